/// The offset of a plan of drops in the packed string: after the fields, with room for more.
pub(crate) const PLAN_AT: usize = 128;
