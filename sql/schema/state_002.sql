-- Where the archive was when a schedule was added, so that its files are found when both have moved together; when its
-- last run was skipped; what there is to say of its last run.

ALTER TABLE schedule ADD COLUMN archive TEXT;
ALTER TABLE schedule ADD COLUMN skipped TEXT;
ALTER TABLE schedule ADD COLUMN remark TEXT;
