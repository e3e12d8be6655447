-- Keeps the answer of the scope that this transaction has taken.
-- $1 scope, $2 answer
update answer set answer = $2 where scope = $1
