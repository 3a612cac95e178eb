import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A document that the code cites, as written in contributing/rfc-index.tsv: number, title. */
type Row = { readonly number: string; readonly title: string }

const CITED = /RFC (\d{3,5})(?: (§§?[\d.]+[\d]|Appendix [A-Z]))?/g
/** Maximum number of places that are listed for one document. */
const MAX_PLACES = 40

/**
 * The index of contributing/rfc-index.tsv in both directions: where src cites each RFC. Throws for a cited RFC without
 * a row, and for a row without a citation.
 */
export function rfcIndex(root: string): string {
  const rows: Row[] = readFileSync(join(root, 'contributing/rfc-index.tsv'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ number: line.split('\t')[0]!, title: line.split('\t')[1] ?? '' }))
  const places = citations(root)
  const missing = [...places.keys()].filter((number) => !rows.some((row) => row.number === number))
  const idle = rows.filter((row) => !places.has(row.number))
  if (missing.length > 0)
    throw new Error(
      `cited without a row in contributing/rfc-index.tsv: RFC ${missing.map((number) => `${number} (${places.get(number)![0]})`).join(', ')}`,
    )
  if (idle.length > 0)
    throw new Error(
      `rows of contributing/rfc-index.tsv that nothing cites: RFC ${idle.map((row) => row.number).join(', ')}`,
    )
  const parts = rows.map(({ number, title }) => {
    const all = places.get(number)!
    const more = all.length > MAX_PLACES ? `, and ${all.length - MAX_PLACES} more` : ''
    return `## RFC ${number}: ${title}\n\n${all.slice(0, MAX_PLACES).join(', ')}${more}\n`
  })
  return `# RFC index\n\n${parts.join('\n')}`
}

/** RFC number → `file §…`, without line numbers so that the page changes only when a citation does. */
function citations(root: string): Map<string, string[]> {
  const found = new Map<string, Set<string>>()
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && name !== 'client/operations.ts',
  )
  for (const file of files.sort()) {
    for (const [, number, section] of readFileSync(join(root, 'src', file), 'utf8').matchAll(CITED)) {
      const places = found.get(number!) ?? new Set()
      places.add(`\`${file}\`${section ? ` ${section}` : ''}`)
      found.set(number!, places)
    }
  }
  return new Map([...found].map(([number, places]) => [number, [...places]]))
}
