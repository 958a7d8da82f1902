// Draws a page's Mermaid diagrams, which are code blocks in the Markdown, so that GitHub draws them too. Mermaid is 2.5 MB,
// so only pages with a diagram load it.
(() => {
  /** Of a diagram's own size. */
  const SMALLEST = 0.7;
  const sources = document.querySelectorAll('code.language-mermaid');
  if (sources.length === 0) return;
  const diagrams = [...sources].map((source) => {
    const diagram = document.createElement('div');
    diagram.className = 'mermaid';
    diagram.textContent = source.textContent;
    source.closest('pre').replaceWith(diagram);
    return diagram;
  });
  const script = document.createElement('script');
  script.src = `${path_to_root}site/mermaid.js`;
  script.onload = async () => {
    const dark = ['ayu', 'coal', 'navy'].some((theme) => document.documentElement.classList.contains(theme));
    mermaid.initialize({ startOnLoad: false, securityLevel: 'strict', theme: dark ? 'dark' : 'neutral' });
    await mermaid.run({ nodes: diagrams });
    // A wide diagram scrolls once it would be too small to read.
    for (const { firstElementChild: svg } of diagrams) svg.style.minWidth = `${svg.viewBox.baseVal.width * SMALLEST}px`;
  };
  document.head.append(script);
})();
