-- Numbers that only grow and have no gaps: who takes one holds the row until its commit, so that numbers become visible in
-- their order.
create table counter (
    name text primary key,
    number integer not null
) strict;
insert into counter (name, number) values ('change', 0), ('tenant', 0);

-- What was changed and must be forgotten by every server that remembers it.
create table change (
    number integer primary key,
    at integer not null,
    kind text not null,
    subject text not null
) strict;

create table tenant (
    tenant_number integer primary key,
    name text not null unique,
    created integer not null,
    disabled integer
) strict;
insert into tenant (tenant_number, name, created) values (0, 'default', 0);

create table host (
    name text primary key,
    tenant_number integer not null references tenant (tenant_number)
) strict;

create table api_key (
    key_id text primary key,
    hash blob not null unique,
    family text not null,
    tenant_number integer not null references tenant (tenant_number),
    kind text not null,
    is_test integer not null,
    name text not null,
    shown text not null,
    scopes text not null,
    created integer not null,
    created_by text not null,
    expires integer,
    revoked integer,
    replaced_by text,
    last_used integer
) strict;
create index api_key_of_tenant on api_key (tenant_number, key_id);

create table audit (
    entry integer primary key autoincrement,
    at integer not null,
    tenant_number integer not null,
    who text not null,
    action text not null,
    subject text not null,
    address text not null,
    request_id text not null
) strict;
create index audit_of_tenant on audit (tenant_number, entry);
create index audit_by_time on audit (at);

-- Answers to requests that carried an idempotency key. An answer is null only inside the transaction that makes it.
create table answer (
    scope blob primary key,
    fingerprint blob not null,
    answer blob,
    expires integer not null
) strict;
create index answer_by_end on answer (expires);
