-- Finds what was answered.
-- $1 scope
select fingerprint, answer from answer where scope = $1
