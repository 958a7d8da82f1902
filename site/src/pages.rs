//! Collects the site's files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use mdbook_markdown::pulldown_cmark::{Event, Tag};
use mdbook_markdown::{MarkdownOptions, new_cmark_parser};

use crate::copy;

/// Copies the pages in a summary and the files that they link to into `staged`, under the same paths. Returns the number
/// of pages.
pub(crate) fn stage(root: &Path, summary: &Path, staged: &Path) -> Result<usize> {
    let text = read(&root.join(summary))?;
    let mut moved = text.clone();
    let mut pages = BTreeSet::new();
    for link in links(&text) {
        let page = from_root(summary, &link).with_context(|| format!("{link} leads out of the checkout"))?;
        // In the staged folder the summary is at the top.
        moved = moved.replace(&format!("]({link})"), &format!("]({})", page.display()));
        ensure!(pages.insert(page), "{} lists {link} twice", summary.display());
    }
    let mut linked = BTreeSet::new();
    for page in &pages {
        copy(&root.join(page), &staged.join(page))?;
        for link in links(&read(&root.join(page))?) {
            let Some(file) = from_root(page, &link) else { continue };
            // The link checker reports missing files, with their lines.
            if pages.contains(&file) || !root.join(&file).is_file() {
                continue;
            }
            if file.extension().is_some_and(|extension| extension == "md") {
                bail!("{} links to {}, which is not in {}", page.display(), file.display(), summary.display());
            }
            linked.insert(file);
        }
    }
    for file in linked {
        copy(&root.join(&file), &staged.join(&file))?;
        if file.extension().is_some_and(|extension| extension == "html") {
            copy_beside(root, &file, staged)?;
        }
    }
    fs::write(staged.join("SUMMARY.md"), moved)?;
    Ok(pages.len())
}

/// Copies the files beside an HTML page, such as its scripts.
fn copy_beside(root: &Path, file: &Path, staged: &Path) -> Result<()> {
    let folder = file.parent().unwrap_or(Path::new(""));
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            copy(&entry.path(), &staged.join(folder).join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// The relative links and pictures of a page, without their anchors.
fn links(text: &str) -> Vec<String> {
    let destinations = new_cmark_parser(text, &MarkdownOptions::default()).filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url),
        _ => None,
    });
    destinations
        .filter(|link| !link.contains(':') && !link.starts_with('/'))
        .filter_map(|link| link.split('#').next().filter(|path| !path.is_empty()).map(str::to_owned))
        .collect()
}

/// The path of a page's link from the root. None if it leads above the root.
fn from_root(page: &Path, link: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in page.parent()?.join(link).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::ParentDir if !path.pop() => return None,
            _ => {}
        }
    }
    Some(path)
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkout(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn staged(files: &[(&str, &str)]) -> Result<(usize, tempfile::TempDir)> {
        let (from, to) = (checkout(files), tempfile::tempdir().unwrap());
        Ok((stage(from.path(), Path::new("docs/SUMMARY.md"), to.path())?, to))
    }

    #[test]
    fn pages_and_what_they_link_to_keep_their_paths() {
        let (pages, to) = staged(&[
            ("docs/SUMMARY.md", "- [Home](../README.md)\n- [Draws](draws.md)\n"),
            ("README.md", "[draws](docs/draws.md#odds) ![a](docs/a.png) [api](docs/api/index.html) [gone](gone.txt)"),
            ("docs/draws.md", "[home](../README.md) [site](https://example.com) [out](../../x.txt) [here](#odds)"),
            ("docs/a.png", "picture"),
            ("docs/api/index.html", "html"),
            ("docs/api/script.js", "script"),
            ("docs/other.png", "not linked to"),
        ])
        .unwrap();
        assert_eq!(pages, 2);
        let summary = fs::read_to_string(to.path().join("SUMMARY.md")).unwrap();
        assert_eq!(summary, "- [Home](README.md)\n- [Draws](docs/draws.md)\n");
        for file in ["README.md", "docs/draws.md", "docs/a.png", "docs/api/index.html", "docs/api/script.js"] {
            assert!(to.path().join(file).is_file(), "{file}");
        }
        assert!(!to.path().join("docs/other.png").exists());
    }

    #[test]
    fn a_page_that_is_linked_to_has_to_be_listed() {
        let error = staged(&[
            ("docs/SUMMARY.md", "- [Home](../README.md)\n"),
            ("README.md", "[forgotten](docs/forgotten.md)"),
            ("docs/forgotten.md", ""),
        ])
        .unwrap_err();
        assert_eq!(error.to_string(), "README.md links to docs/forgotten.md, which is not in docs/SUMMARY.md");
    }
}
