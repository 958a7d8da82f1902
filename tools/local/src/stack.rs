//! A synthesized stack, created on the emulator. CDK's own command takes longer to start than this takes.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use reqwest::Client;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use serde_json::{Map, Value};

use crate::emulator::authorization;
use crate::synthesis::{ASSETS, TEMPLATE};

/// The stack, and the CloudWatch namespace of its functions.
pub(crate) const STACK: &str = "flash-sale";
const POLL: Duration = Duration::from_millis(50);
/// The longest time for all of it, on a machine that is busy.
const LIMIT: Duration = Duration::from_secs(600);

/// Uploads the files of the stack that was synthesized to `app`, creates it, and returns its outputs.
pub(crate) async fn create(http: &Client, endpoint: &str, app: &Path) -> Result<Map<String, Value>> {
    let created = async {
        let template = upload(http, endpoint, app).await?;
        let named = format!("StackName={STACK}&TemplateURL={template}&Capabilities.member.1=CAPABILITY_NAMED_IAM");
        ask(http, endpoint, "CreateStack", &named).await?;
        loop {
            let stack = ask(http, endpoint, "DescribeStacks", &format!("StackName={STACK}")).await?;
            match texts(&stack, "StackStatus").first().copied() {
                Some("CREATE_IN_PROGRESS") => tokio::time::sleep(POLL).await,
                Some("CREATE_COMPLETE") => return Ok(outputs(&stack)),
                status => {
                    let events = ask(http, endpoint, "DescribeStackEvents", &format!("StackName={STACK}")).await?;
                    let reasons = texts(&events, "ResourceStatusReason").join("\n");
                    bail!("the stack is {}:\n{reasons}", status.unwrap_or("not there"))
                }
            }
        }
    };
    tokio::time::timeout(LIMIT, created).await.context("the emulator does not answer, or does not finish the stack")?
}

/// Returns the template's address.
async fn upload(http: &Client, endpoint: &str, app: &Path) -> Result<String> {
    let read = |name: &str| {
        let path = app.join(name);
        std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let text = |value: &Value| value.as_str().map(str::to_owned).with_context(|| format!("{ASSETS} lacks a name"));
    let members = |value: &Value| {
        let members = value.as_object().cloned().with_context(|| format!("{ASSETS} lacks files or destinations"));
        members.map(|members| members.into_iter().map(|(_, member)| member))
    };
    // CDK's list of the files that belong to a stack.
    let assets: Value = serde_json::from_slice(&read(ASSETS)?)?;
    let mut template = None;
    for asset in members(&assets["files"])? {
        let path = text(&asset["source"]["path"])?;
        ensure!(asset["source"]["packaging"] == "file", "{path} is a folder, and only CDK's command makes archives");
        let data = read(&path)?;
        for to in members(&asset["destinations"])? {
            let url = format!("{endpoint}/{}/{}", text(&to["bucketName"])?, text(&to["objectKey"])?);
            http.put(&url).body(data.clone()).send().await?.error_for_status()?;
            if path == TEMPLATE {
                template = Some(url);
            }
        }
    }
    template.with_context(|| format!("{ASSETS} names no template"))
}

/// The answer of CloudFormation, whose protocol is a form and XML.
async fn ask(http: &Client, endpoint: &str, action: &str, parameters: &str) -> Result<String> {
    let request = http
        .post(endpoint)
        .header(AUTHORIZATION, authorization("cloudformation"))
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(format!("Action={action}&Version=2010-05-15&{parameters}"));
    let answer = request.send().await?;
    let (status, text) = (answer.status(), answer.text().await?);
    ensure!(status.is_success(), "{action}: {}", texts(&text, "Message").first().unwrap_or(&&*text));
    Ok(text)
}

/// What each element of this name contains.
fn texts<'a>(xml: &'a str, name: &str) -> Vec<&'a str> {
    let (begin, end) = (format!("<{name}>"), format!("</{name}>"));
    xml.split(&*begin).skip(1).filter_map(|rest| Some(rest.split_once(&*end)?.0)).collect()
}

fn outputs(stack: &str) -> Map<String, Value> {
    let plain = |text: &str| Value::String(text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"));
    let keys = texts(stack, "OutputKey").into_iter().map(str::to_owned);
    keys.zip(texts(stack, "OutputValue").into_iter().map(plain)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_read_with_what_xml_escapes() {
        let stack = "<Outputs><member><OutputKey>ApiUrl</OutputKey><OutputValue>http://a/?b&amp;c</OutputValue></member>\
            <member><OutputKey>Empty</OutputKey><OutputValue></OutputValue></member></Outputs>";
        let outputs = outputs(stack);
        assert_eq!((&outputs["ApiUrl"], &outputs["Empty"]), (&"http://a/?b&c".into(), &"".into()));
    }
}
