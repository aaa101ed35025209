// How an exporter puts a document into the built page.

export const kPlaceholder = '<script type="application/json" id="lithe-show">null</script>';

export function put_document(page: string, json: string): string {
  // "<" only occurs inside of JSON strings, where \u003c means the same and cannot end the element.
  const safe = json.replace(/</g, '\\u003c');
  return page.replace(kPlaceholder, () => kPlaceholder.replace('null', () => safe));
}
