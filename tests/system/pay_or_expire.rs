//! A payment and the expiry of the same order at the same moment.

use crate::handicap::Handicap;
use crate::prelude::*;

const RACES: u32 = 60;
const AT_ONCE: usize = 8;

/// Tells whether it was paid.
async fn race(lab: Arc<Lab>, handicap: &Handicap, reservation: Reservation) -> (Reservation, bool) {
    let payment = format!("pay_{}", reservation.user);
    let (pay_after, expire_after) = handicap.waits();
    let pay = {
        let (lab, ask) = (Arc::clone(&lab), Ask::paid_for(&payment, &reservation, &lab.payment_key));
        tokio::spawn(async move {
            tokio::time::sleep(pay_after).await;
            lab.answer(&ask).await.expect(200).text("outcome").to_owned()
        })
    };
    let expire = {
        let (lab, reservation) = (Arc::clone(&lab), reservation.clone());
        tokio::spawn(async move {
            tokio::time::sleep(expire_after).await;
            lab.expire(&[&reservation], 3600).await;
        })
    };
    let outcome = pay.await.unwrap();
    expire.await.unwrap();

    let order = lab.order_of(&reservation).await;
    let found =
        (order.state, lab.reservation_state(&reservation).await, order.payment_id.clone(), &order.refunds_due[..]);
    let is_paid = outcome == "applied";
    if is_paid {
        assert_eq!(found, (OrderState::Paid, ReservationState::Ordered, Some(payment), &[][..]));
    } else {
        assert_eq!(outcome, "refund_due");
        assert_eq!(found, (OrderState::Expired, ReservationState::Released, None, &[payment][..]));
    }
    handicap.note(is_paid);
    (reservation, is_paid)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_order_is_paid_or_expired_and_its_unit_free_exactly_when_it_expired() {
    let lab = Arc::new(Lab::selling(terms(RACES, 1)).await);
    let bought = stream::iter(0..RACES).map(async |user| lab.buy(&format!("user-{user}")).await);
    let bought: Vec<Reservation> = bought.buffer_unordered(AT_ONCE).collect().await;
    assert_eq!(lab.clean_audit().await, (0, 0, RACES));

    let handicap = Handicap::default();
    let races = stream::iter(bought).map(|reservation| race(Arc::clone(&lab), &handicap, reservation));
    let ended: Vec<(Reservation, bool)> = races.buffer_unordered(AT_ONCE).collect().await;

    let expired: BTreeSet<Unit> =
        ended.iter().filter(|(_, is_paid)| !is_paid).map(|(reservation, _)| reservation.unit).collect();
    let paid = ended.len() - expired.len();
    assert!(paid >= 10 && expired.len() >= 10, "no race: {paid} paid, {} expired", expired.len());
    assert_eq!(lab.free().await, expired.iter().copied().collect::<Vec<_>>());
    assert_eq!(lab.clean_audit().await, (expired.len() as u32, 0, paid as u32));
    println!("{paid} paid, {} expired", expired.len());
    // The expiry function's clock is an hour ahead.
    lab.check_history_by(Clocks::Apart, "pay_or_expire", &[SALE], Redis::Keeps).await;
}
