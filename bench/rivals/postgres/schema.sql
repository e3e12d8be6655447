-- The table of seats, made anew before each round so that every row is fresh.
-- $rows: how many seats (filled in by bench/src/rivals/postgres/cluster.rs).
drop table if exists seat;
create table seat (
    seat_id bigint primary key,
    status text not null default 'available',
    buyer text,
    until bigint
);
insert into seat (seat_id) select generate_series(0, $rows - 1);
