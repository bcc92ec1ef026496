/** The page into which Redoc writes the reference. */
export const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>Herald: API reference</title>
<style>body { margin: 0 } noscript { display: block; padding: 2rem; font: 1rem/1.5 system-ui, sans-serif }</style>
</head>
<body>
<noscript>The reference needs JavaScript. The same is in <a href="../v1/openapi.json">openapi.json</a>.</noscript>
<main id="reference"></main>
<script src="redoc.js"></script>
<script src="start.js"></script>
</body>
</html>
`;

/** What the page does once Redoc is there. */
export const start = `Redoc.init("openapi.json", {
  requiredPropsFirst: true,
  sortRequiredPropsFirst: true,
  jsonSamplesExpandLevel: 3,
  hideDownloadButtons: true,
  pathInMiddlePanel: true,
}, document.getElementById("reference"));
`;
