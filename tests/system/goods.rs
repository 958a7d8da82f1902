//! The description of the goods: operators write it, everyone sees it.

use crate::catalog;
use crate::lab::PICTURE_HOST;
use crate::prelude::*;

fn goods() -> Value {
    json!({
        "description": "It whistles.\nOne litre.",
        "pictures": [format!("https://{PICTURE_HOST}/kettle.webp?w=800"), "/art/pot.svg"],
        "list_price_minor": 1990,
        "terms_url": "https://shop.example.com/terms",
        "expected_audience": 10_000,
    })
}

#[tokio::test]
async fn goods_are_written_read_and_shown_to_buyers_without_the_audience() {
    let lab = Lab::new().await;
    let told = |body: &Value| {
        let names = goods().as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        Value::Object(names.into_iter().filter_map(|name| Some((name.clone(), body.get(&name)?.clone()))).collect())
    };
    let created = lab.operate("sales", &new_sale("kettle", &goods())).await.expect(201);
    assert_eq!(told(&created.body), goods());
    let publish = Ask::post("/v1/admin/sales/kettle/publish").by_operator();
    assert_eq!(told(&lab.answer(&publish).await.expect(200).body), goods(), "the round has the goods");
    let campaign = json!({ "campaign_id": "autumn", "title": "Autumn", "sale_ids": ["kettle"] });
    lab.operate("campaigns", &campaign).await.expect(201);

    let mut shown = goods();
    shown.as_object_mut().unwrap().remove("expected_audience");
    let catalog = lab.catalog();
    let page = catalog::shown(&catalog, "/v1/sales/kettle").await;
    assert_eq!(told(&page.body), shown);
    let listed = catalog::shown(&catalog, "/v1/campaigns/autumn").await.body["sales"][0].clone();
    assert_eq!(told(&listed), json!({ "list_price_minor": 1990 }), "a list has the first picture and the price");
    assert_eq!(listed["picture"], goods()["pictures"][0]);

    // Members that nothing depends on may be changed or removed while the round runs.
    let less = json!({
        "round": 1, "round_version": 1, "description": "", "pictures": [], "list_price_minor": null, "terms_url": null,
        "expected_audience": null,
    });
    let edited = lab.operate("sales/kettle/edit", &less).await.expect(200);
    assert_eq!(told(&edited.body), json!({}));
    let copied = lab.operate("sales/kettle/duplicate", &json!({ "sale_id": "pot" })).await.expect(201);
    assert_eq!(told(&copied.body), json!({}), "a copy offers what the round does");
}
