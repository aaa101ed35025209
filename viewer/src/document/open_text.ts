// An exported page holds its document in an element; a bare document is itself.
export function document_text(text: string): string {
  const match = /<script type="application\/json" id="lithe-show"[^>]*>([\s\S]*?)<\/script>/.exec(text);
  return match ? match[1] : text;
}
