// Writes out/sample.json and, when the viewer is built, out/sample.html: what an exporter would write.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { kPlaceholder, put_document } from './export';
import { make_sample } from './sample';

mkdirSync('out', { recursive: true });
const json = JSON.stringify(make_sample());
writeFileSync('out/sample.json', json);
if (existsSync('dist/viewer.html')) {
  const page = readFileSync('dist/viewer.html', 'utf8');
  if (!page.includes(kPlaceholder)) throw new Error('dist/viewer.html has no placeholder');
  writeFileSync('out/sample.html', put_document(page, json));
}
