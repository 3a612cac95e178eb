import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = new URL('../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')
const markdownOf = (folder: string): readonly string[] =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}${name}`)
    .toSorted()

const DOCUMENTS = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'test/archetypes/README.md',
  'test/real/README.md',
  ...markdownOf('docs/'),
  ...markdownOf('contributing/'),
]

const withoutFences = (text: string): string => text.replaceAll(/^```.*?^```/gms, '')
const withoutCode = (text: string): string => withoutFences(text).replaceAll(/`[^`\n]*`/g, '``')
const headingsOf = (text: string): readonly string[] =>
  [...withoutFences(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading.replaceAll('`', ''))

/** The anchor of a heading on the site (src/pages/docs.ts), and in a repository on GitHub. */
const onSite = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
const onGitHub = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')

/** What is wrong with a link of a document; undefined where it leads somewhere. */
function faultOf(document: string, href: string): string | undefined {
  if (/^(?:https?|mailto):/.test(href)) return undefined
  const url = new URL(href, new URL(document, ROOT))
  if (!existsSync(new URL(url.pathname, 'file://'))) return `no file: ${href}`
  const anchor = decodeURIComponent(url.hash.slice(1))
  if (anchor === '') return undefined
  const headings = headingsOf(readFileSync(new URL(url.pathname, 'file://'), 'utf8'))
  return headings.some((heading) => onSite(heading) === anchor && onGitHub(heading) === anchor)
    ? undefined
    : `no heading: ${href}`
}

describe('links of the documents', () => {
  it.each(DOCUMENTS)('%s', (document) => {
    const links = [...withoutCode(read(document)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, href = '']) => href)
    expect(links.map((href) => faultOf(document, href)).filter((fault) => fault !== undefined)).toEqual([])
  })

  it.each<[string, string | undefined]>([
    ['score.md#roles', undefined],
    ['score.md#no-such-heading', 'no heading: score.md#no-such-heading'],
    ['no-such-file.md', 'no file: no-such-file.md'],
  ])('a link to %s', (href, fault) => expect(faultOf('docs/glossary.md', href)).toBe(fault))
})

describe('files that the documents for developers name', () => {
  const SOURCES = ['src', 'test', 'docs', 'scripts', 'bench', 'contributing', 'examples']
  const paths = SOURCES.flatMap((folder) =>
    readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  )
  const ends = new Set(
    [...SOURCES, ...paths].flatMap((path) => path.split('/').map((_, at, parts) => parts.slice(at).join('/'))),
  )
  const exists = (name: string): boolean =>
    name.includes('*') ? paths.some((path) => matchesGlob(path, `**/${name}`)) : ends.has(name.replace(/\/$/, ''))

  /** Names of TypeScript files anywhere in the text (a path, or its end), and in code also folders from the root. */
  const namesIn = (text: string): readonly string[] => [
    ...[...text.matchAll(/(?<![\w>./*-])[\w*][\w./*-]*\.ts\b/g)].map(([name]) => name),
    ...[...text.matchAll(/`((?:src|test|docs|scripts|bench|contributing|examples)\/[\w./*-]*)`/g)].map(
      ([, name = '']) => name,
    ),
  ]

  it.each(['CONTRIBUTING.md', ...markdownOf('contributing/')])('%s', (document) =>
    expect([...new Set(namesIn(read(document)))].filter((name) => !exists(name))).toEqual([]),
  )

  it.each([
    ['see `base/errors.ts`', true],
    ['see base/no-such-file.ts', false],
    ['`reply/table-*.ts`', true],
    ['`reply/no-such-*.ts`', false],
    ['`src/dnsbl`', true],
    ['`src/no-such-folder`', false],
  ])('%s: %s', (text, exist) => expect(namesIn(text).map(exists)).toEqual([exist]))
})

it.each(DOCUMENTS.filter((name) => name !== 'CHANGELOG.md'))(
  '%s runs a clone or a packed file, not a package by name',
  (document) =>
    expect(read(document)).not.toMatch(
      /\bnpx (?:-\S+ )*mailsonde\b|\bnpm (?:i|install|exec) (?:-\S+ )*mailsonde(?:@\S+)?(?:\s|$)/,
    ),
)
