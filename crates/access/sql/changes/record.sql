-- Notes what was changed, for every server to forget.
-- $1 number, $2 at, $3 kind, $4 subject
insert into change (number, at, kind, subject) values ($1, $2, $3, $4)
