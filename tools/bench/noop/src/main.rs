//! A function that does nothing: it reads the gateway's event and answers.

use std::convert::Infallible;

use lambda_http::{Body, Error, Request, Response, run_concurrent, service_fn};

#[tokio::main]
async fn main() -> Result<(), Error> {
    run_concurrent(service_fn(async |_: Request| Ok::<_, Infallible>(Response::new(Body::Empty)))).await
}
