//! Tickets for a line, and looks at it, which advance it.

use pass::line::LineState;

use super::flow::{Flow, flow};
use crate::lines::{LINE, ask_for_ticket, look, names, queue_up, with_line};
use crate::prelude::*;

pub(super) const FLOWS: &[Flow] = &[
    flow!(
        "ticket of a line",
        ["Query", "EVALSHA ticket"],
        prepare = |lab| with_queue(lab),
        run = |_, world, _| world.ask(Ask::post(format!("/v1/sales/{SALE}/tickets")).by("alice")),
        again = |lab, _| async {
            let ticket = ask_for_ticket(lab, "alice").await.expect(201).body;
            assert_eq!(ticket["class"], "late");
            assert_eq!(ask_for_ticket(lab, "alice").await.expect(201).body, ticket);
            assert_eq!(look(lab).await.people.late, 1, "once");
        },
    ),
    flow!(
        "look at a line",
        ["Query", "GetItem", "EVALSHA line", "UpdateItem"],
        prepare = |lab| with_queue(lab),
        run = |_, world, _| world.ask(Ask::get(format!("/v1/sales/{SALE}/line"))),
        again = |lab, _| async {
            let document = look(lab).await;
            assert_eq!(document.state, LineState::Moving);
            let kept = lab.ledger.line(&round(SALE, 1)).await.unwrap().expect("the ledger has the line");
            assert!(
                kept.ceiling.expect("the line has moved") >= document.admitted.watermark(),
                "it admits more than the ledger's ceiling"
            );
            assert!(look(lab).await.admitted.watermark() >= document.admitted.watermark(), "it moved back");
        },
    ),
];

/// An open sale of four units, with sixty early people in its line and no look at it yet.
async fn with_queue(lab: &Lab) -> Vec<Reservation> {
    lab.open(SALE, &with_line(4, LINE)).await;
    lab.refresh_snapshots().await;
    queue_up(lab, &names(60)).await;
    Vec::new()
}
