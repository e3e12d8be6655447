-- Forgets old changes; a server that has not read them by then forgets everything instead.
-- $1 before
delete from change where at < $1
