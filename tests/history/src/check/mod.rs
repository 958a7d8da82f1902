mod answers;
mod certain;
mod holders;
mod limit;
mod promises;
mod report;
mod sold_out;
mod units;
mod view;

use crate::record::History;
use certain::Reservations;
use holders::holders;
use report::Found;
use view::View;

pub use report::{Judged, MOST_SHOWN, Report, Rule, Violation};

pub fn check(history: &History) -> Report {
    let mut report = Report::default();
    report.judged.operations = history.operations.len();
    let mut described = 0;
    for round in &history.rounds {
        let view = View::of(history, round);
        described += view.operations.len();
        let reservations = Reservations::of(&view);
        let holders = holders(&view, &reservations);
        let mut found = Found { view: &view, report: &mut report };
        answers::check(&mut found, &reservations);
        units::check(&mut found, &reservations);
        limit::check(&mut found, &reservations, &holders);
        sold_out::check(&mut found, &holders);
        promises::check(&mut found, &reservations);
    }
    report.judged.unchecked = history.operations.len() - described;
    report
}
