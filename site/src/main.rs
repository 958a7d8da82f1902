//! Builds the documentation as a site: `make site` writes it to `target/site`, where it opens without a server.
//!
//! The pages stay where readers of the repository expect them, all over the checkout. mdBook wants them in one folder,
//! so they are first copied to `target/site-pages` under the same paths, with the files that they link to. A link that
//! works in the checkout then works in the site.

mod pages;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use mdbook_driver::MDBook;
use mdbook_driver::config::Config;

/// Draws diagrams in the browser. Only pages with one load it: see `site/diagrams.js`.
const MERMAID: &str = "node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js";

fn main() -> Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.parent().context("the crate is not in a checkout")?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
    let (staged, built) = (target.join("site-pages"), target.join("site"));

    for folder in [&staged, &built] {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
        }
    }
    let copied = pages::stage(root, Path::new("docs/SUMMARY.md"), &staged)?;
    for file in ["diagrams.js", "site.css"] {
        copy(&here.join(file), &staged.join("site").join(file))?;
    }
    copy(&here.join(MERMAID), &staged.join("site/mermaid.js"))?;

    let mut config = Config::from_disk(here.join("book.toml"))?;
    config.book.src = PathBuf::from(".");
    config.build.build_dir = built.clone();
    MDBook::load_with_config(&staged, config)?.build()?;
    println!("{copied} pages: {}", built.join("index.html").display());
    Ok(())
}

/// Copies a file and creates its parent folders.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    Ok(())
}
