-- The same hold for pgbench; each client walks through its own rows. -D stride=N -D next=0
-- pgbench takes a colon for a variable even inside a text, so the buyer has none.
\set seat :client_id * :stride + :next
\set next :next + 1
update seat set status = 'held', buyer = 'usr_0123456789abcdef', until = 1800000000000 where seat_id = :seat and status = 'available';
