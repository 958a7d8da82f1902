use crate::check::report::{Report, Rule, Violation};
use crate::check::view::View;

pub(super) struct Found<'a> {
    pub(super) view: &'a View<'a>,
    pub(super) report: &'a mut Report,
}

impl Found<'_> {
    pub(super) fn violation(&mut self, rule: Rule, message: String) {
        let round = self.view.round.id.clone();
        self.report.violations.push(Violation { rule, round, message });
    }
}
