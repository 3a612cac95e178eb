import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One small change of a file: what stood at an offset, on a line, and what is written there. */
export type Change = {
  readonly file: string
  readonly at: number
  readonly line: number
  readonly was: string
  readonly now: string
}

/** The module of a file below src or test: the folder below these. */
export const moduleOf = (file: string): string => /^(?:src|test)\/([^/]+)\//.exec(file)?.[1] ?? ''

/**
 * `count` changes of the code below `root`, of each module by its lines. The same seed makes the same changes, those of
 * a file whatever happens to others. They come in an order of chance, so that the first of them are a sample, too.
 */
export function changesIn(root: string, { count, seed }: { count: number; seed: string }): Change[] {
  const sources = filesOf(root).map((file) => ({ file, source: readFileSync(join(root, file), 'utf8') }))
  const lines = new Map<string, number>()
  for (const { file, source } of sources)
    lines.set(moduleOf(file), (lines.get(moduleOf(file)) ?? 0) + source.split('\n').length)
  const each = [...lines.values()].reduce((sum, n) => sum + n, 0) / count
  const changes = sources.flatMap(({ file, source }) => changesOf(file, source))
  const rank = ({ file, at, was }: Change, source: string): string =>
    createHash('sha256')
      .update([seed, file, was, source.slice(Math.max(0, at - 40), at + 40)].join('\n'))
      .digest('hex')
  const texts = new Map(sources.map(({ file, source }) => [file, source]))
  const ranked = changes
    .map((change) => ({ change, at: rank(change, texts.get(change.file)!) }))
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .map(({ change }) => change)
  const left = new Map([...lines].map(([name, n]) => [name, Math.round(n / each)]))
  return ranked.filter(({ file }) => {
    const n = left.get(moduleOf(file))!
    left.set(moduleOf(file), n - 1)
    return n > 0
  })
}

/** Words, examples and tables of data are held by other tests; what runs in browsers alone by those on real servers. */
const filesOf = (root: string): readonly string[] =>
  readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter(
      (file) =>
        file.endsWith('.ts') &&
        !file.endsWith('.test.ts') &&
        !/table-|findings\.ts|examples|zones\.ts|pages\/islands|client\/operations\.ts/.test(file),
    )
    .map((file) => join('src', file))
    .sort()

const SWAPS: readonly (readonly [RegExp, (found: string) => string])[] = [
  [/(?<= )(?:===|!==|<=|>=|<|>|&&|\|\||\+|-|\?\?)(?= )/g, (found) => OTHER[found] ?? found],
  [/(?<![\w.$'`-])\d[\d_]*(?![\w.'`])/g, (found) => String(Number(found.replaceAll('_', '')) + 1)],
  [/\b(?:true|false)\b/g, (found) => (found === 'true' ? 'false' : 'true')],
  [/(?<=[ (])!(?=[a-zA-Z(])/g, () => ''],
  [/^ +(?:void |await )?[a-z]\w*(?:\.\w+)*\([^{}]*\)$/gm, () => ''],
]
const OTHER: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<=': '<',
  '>=': '>',
  '<': '<=',
  '>': '>=',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  '??': '&&',
}

/** Every change that may be made in a file; imports, types, comments, examples and text in quotes are left alone. */
function changesOf(file: string, source: string): readonly Change[] {
  const blank = (text: string): string => text.replace(/[^\n]/g, '\u0001')
  const code = source
    .replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, blank)
    .replace(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|(?<=[(,= ])\/(?![*/ ])(?:[^/\\\n]|\\.)+\/[a-z]*/g, blank)
    .replace(/^import [\s\S]*?(?=\n(?! {2}|\}))/gm, blank)
    .replace(/^(?:export )?type [\s\S]*?\n(?=\S)/gm, blank)
    .replace(/^ +readonly [^\n]*/gm, blank)
    .replace(/\bexamples?: (?:\{[^}]*\}|[^,\n]*)/g, blank)
  return SWAPS.flatMap(([pattern, other]) =>
    [...code.matchAll(pattern)].map((found) => ({
      file,
      at: found.index,
      line: code.slice(0, found.index).split('\n').length,
      was: found[0],
      now: other(found[0]),
    })),
  ).filter(({ was, now }) => was !== now)
}
