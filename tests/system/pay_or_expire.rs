//! A payment and the expiry of the same order at the same moment.

use crate::handicap::Handicap;
use crate::prelude::*;

const RACES: u32 = 60;
const AT_ONCE: usize = 8;
#[derive(Debug, PartialEq, Eq)]
enum End {
    Paid,
    Expired,
}

async fn race(lab: Arc<Lab>, handicap: &Handicap, reservation: Reservation) -> (Reservation, End) {
    let id = &reservation.id;
    let payment = format!("pay_{}", reservation.user);
    let (pay_after, expire_after) = handicap.waits();
    let pay = {
        let (lab, ask) = (Arc::clone(&lab), Ask::paid(&payment, &id.to_string(), 990, &lab.payment_key));
        tokio::spawn(async move {
            tokio::time::sleep(pay_after).await;
            lab.answer(&ask).await.expect(200).text("outcome").to_owned()
        })
    };
    let expire = {
        let (lab, message) = (Arc::clone(&lab), ExpiryMessage::new(id.clone(), sale::EpochMs(0)).to_body());
        tokio::spawn(async move {
            tokio::time::sleep(expire_after).await;
            expiry::handle(&lab.expiry_in(3600), events::batch([message])).await
        })
    };
    let outcome = pay.await.unwrap();
    assert!(expire.await.unwrap().batch_item_failures.is_empty());

    let order = lab.order_of(&reservation).await;
    let state = lab.reservation_state(&reservation).await;
    let end = match order.state {
        OrderState::Paid => {
            assert_eq!((&*outcome, state), ("applied", ReservationState::Ordered), "{order:?}");
            assert_eq!((order.payment_id.as_deref(), order.refunds_due.len()), (Some(&*payment), 0));
            End::Paid
        }
        OrderState::Expired => {
            assert_eq!((&*outcome, state), ("refund_due", ReservationState::Released), "{order:?}");
            assert_eq!((order.payment_id, order.refunds_due), (None, vec![payment]));
            End::Expired
        }
        other => panic!("{other:?}: {order:?}"),
    };
    handicap.note(end == End::Paid);
    (reservation, end)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_order_is_paid_or_expired_and_its_unit_free_exactly_when_it_expired() {
    let lab = Arc::new(Lab::selling(terms(RACES, 1)).await);
    let bought = futures::stream::iter(0..RACES).map(async |user| lab.buy(&format!("user-{user}")).await);
    let bought: Vec<Reservation> = bought.buffer_unordered(AT_ONCE).collect().await;
    assert_eq!(lab.clean_audit().await, (0, 0, RACES));

    let handicap = Handicap::default();
    let races = futures::stream::iter(bought).map(|reservation| race(Arc::clone(&lab), &handicap, reservation));
    let ended: Vec<(Reservation, End)> = races.buffer_unordered(AT_ONCE).collect().await;

    let expired: BTreeSet<Unit> =
        ended.iter().filter(|(_, end)| *end == End::Expired).map(|(reservation, _)| reservation.unit).collect();
    let paid = ended.len() - expired.len();
    assert!(paid >= 10 && expired.len() >= 10, "no race: {paid} paid, {} expired", expired.len());
    assert_eq!(lab.free().await, expired.iter().copied().collect::<Vec<_>>());
    assert_eq!(lab.clean_audit().await, (expired.len() as u32, 0, paid as u32));
    println!("{paid} paid, {} expired", expired.len());
    // The expiry function's clock is an hour ahead.
    lab.check_history_by(Clocks::Apart, "pay_or_expire", &[SALE], Redis::Keeps).await;
}
