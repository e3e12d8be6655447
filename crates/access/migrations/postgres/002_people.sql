-- People, their sessions and devices, what they were sent, and what they like.

-- A guest has no e-mail and no password; of who was deleted the id alone is left.
create table person (
    user_id text primary key,
    tenant_number bigint not null references tenant (tenant_number),
    state text not null check (state in ('guest', 'active', 'disabled', 'deleted')),
    email text,
    email_key text,
    password_hash text,
    roles text not null,
    created_ms bigint not null,
    changed_ms bigint not null
);
create unique index person_of_email on person (tenant_number, email_key);
create index person_of_state on person (tenant_number, state, created_ms);

-- One for each device on which somebody is signed in.
create table session (
    session_id text primary key,
    token_hash bytea not null unique,
    tenant_number bigint not null references tenant (tenant_number),
    user_id text not null references person (user_id),
    device_id text not null,
    device_type text not null,
    device_name text not null,
    address text not null,
    user_agent text not null,
    is_remembered bigint not null,
    idle_ms bigint not null,
    created_ms bigint not null,
    last_used_ms bigint not null,
    expires_ms bigint not null
);
create index session_of_user on session (user_id);
create index session_by_end on session (expires_ms);
create index session_by_last_use on session (last_used_ms);

-- Tokens that were rotated away: who presents one later has stolen it, or was stolen from.
create table retired_token (
    token_hash bytea primary key,
    session_id text not null,
    salt bytea not null,
    retired_ms bigint not null
);
create index retired_token_of_session on retired_token (session_id);

-- Devices that somebody signed in from with the right password.
create table known_device (
    device_id text primary key,
    secret_hash bytea not null unique,
    user_id text not null references person (user_id),
    seen_ms bigint not null
);
create index known_device_of_user on known_device (user_id);

-- Secrets from letters. The secret is made from the id and the house key; a row that is gone was used.
create table one_time_token (
    token_id bytea primary key,
    token_hash bytea not null unique,
    tenant_number bigint not null references tenant (tenant_number),
    purpose text not null,
    user_id text,
    email text,
    email_key text,
    password_hash text,
    created_ms bigint not null,
    expires_ms bigint not null
);
create index one_time_token_of_user on one_time_token (user_id);
create index one_time_token_of_email on one_time_token (tenant_number, email_key);
create index one_time_token_by_end on one_time_token (expires_ms);

-- Failed attempts and letters asked for, by the hash of what is counted.
create table attempt (
    subject bytea primary key,
    failures bigint not null,
    last_ms bigint not null,
    free_ms bigint not null
);
create index attempt_by_last on attempt (last_ms);

create table letter (
    letter_id text primary key,
    tenant_number bigint not null references tenant (tenant_number),
    kind text not null,
    user_id text,
    email text not null,
    token_id bytea,
    details text not null,
    state text not null check (state in ('waiting', 'sent', 'given_up')),
    tries bigint not null,
    created_ms bigint not null,
    next_ms bigint not null
);
create index letter_by_next on letter (state, next_ms);
create index letter_of_user on letter (user_id);

create table preference (
    user_id text primary key references person (user_id),
    preferred_categories text not null,
    preferred_locations text not null,
    interests text not null,
    price_range_min bigint,
    price_range_max bigint,
    notification_settings text not null
);

create table favourite (
    user_id text not null references person (user_id),
    listing text not null,
    created_ms bigint not null,
    primary key (user_id, listing)
);
