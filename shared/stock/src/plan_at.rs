/// Where the plan of a round's drops begins in the packed string: behind the fields, with room for those to come.
pub(crate) const PLAN_AT: usize = 128;
