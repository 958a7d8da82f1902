//! The payment provider's callback, which it repeats until it gets 2xx.

use super::flow::{Flow, flow, open, repeat};
use super::purchase::expire;
use crate::prelude::*;

pub(super) const FLOWS: &[Flow] = &[
    flow!(
        "payment",
        ["GetSecretValue", "TransactWriteItems"],
        prepare = |lab| open(lab, terms(4, 1), &["alice"], &[]),
        run = |lab, world, reserved| world.ask(callback(lab, &reserved[0])),
        again = |lab, reserved| repeat(lab, callback(lab, &reserved[0])),
        end = |lab, reserved| async {
            let order = lab.order_of(&reserved[0]).await;
            assert_eq!((order.state, order.payment_id.as_deref()), (OrderState::Paid, Some(PAYMENT)));
            assert_eq!(order.refunds_due, [""; 0]);
        },
    ),
    flow!(
        "late payment",
        ["GetSecretValue", "TransactWriteItems", "TransactWriteItems", "SendMessage"],
        prepare = |lab| async {
            let reserved = open(lab, terms(4, 1), &["alice"], &[]).await;
            expire(lab, &reserved[0]).await;
            reserved
        },
        run = |lab, world, reserved| world.ask(callback(lab, &reserved[0])),
        again = |lab, reserved| repeat(lab, callback(lab, &reserved[0])),
        end = |lab, reserved| async {
            let order = lab.order_of(&reserved[0]).await;
            assert_eq!((order.state, order.payment_id), (OrderState::Expired, None));
            assert_eq!(order.refunds_due, [PAYMENT]);
        },
    ),
];

const PAYMENT: &str = "pay_1";

fn callback(lab: &Lab, reservation: &Reservation) -> Ask {
    Ask::paid_for(PAYMENT, reservation, &lab.payment_key)
}
