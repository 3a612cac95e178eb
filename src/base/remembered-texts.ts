/** Maximum number of texts whose results are kept. */
const MOST = 100
/** Maximum number of characters of a text whose result is kept. */
const MOST_CHARACTERS = 1_000

/**
 * A pure function of a text that keeps its results: one check reads the same record many times, for the facts, for each
 * judge and for each fix that is tried. The results must not be changed. At most 100 texts of 1,000 characters are
 * kept; all are forgotten when there would be more.
 */
export function rememberedTexts<T>(read: (text: string) => T): (text: string) => T {
  const results = new Map<string, { readonly result: T }>()
  return (text) => {
    const known = results.get(text)
    if (known) return known.result
    const result = read(text)
    if (text.length > MOST_CHARACTERS) return result
    if (results.size >= MOST) results.clear()
    results.set(text, { result })
    return result
  }
}
