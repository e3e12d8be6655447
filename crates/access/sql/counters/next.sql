-- Takes the next number; whoever wants one after it waits for this transaction's end.
-- $1 name
update counter set number = number + 1 where name = $1 returning number
