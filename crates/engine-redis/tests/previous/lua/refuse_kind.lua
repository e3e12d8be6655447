-- refuse_kind: a verb that is not for events; the schedule is followed all the same.
-- REPLY  4 wrong_kind
-- EMITS  StatusChanged*          COST  2 reads
follow_schedule()
return refuse(NO.wrong_kind)
