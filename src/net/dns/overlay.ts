import { canonicalName, labelsOf } from '../../names/domain.ts'
import {
  type Answer,
  type AskServer,
  DnsError,
  type RecordData,
  type RecordType,
  type Resolve,
  type ResolveOptions,
  settled,
} from './resolver.ts'
import { hasOneKind, textKind } from './text-kind.ts'

/** One record that is treated as published; `data` is what a {@link Resolve} returns for its type. */
export type OverlayRecord = {
  [T in RecordType]: { readonly name: string; readonly type: T; readonly data: RecordData[T] }
}[RecordType]
/** A record that is treated as removed; without data, all of its name and type. */
type OverlayRemoval = {
  readonly name: string
  readonly type: RecordType
  readonly remove: true
  readonly data?: RecordData[RecordType]
}
export type OverlayChange = OverlayRecord | OverlayRemoval

/** Maximum length of a CNAME chain, as in {@link Answer}. */
const MAX_CHAIN = 16
const TTL_SECONDS = 300

/**
 * `resolve` as if `records` were published, and removals done. The records of a name and type replace the published
 * ones, those of TXT only the ones of their kind ({@link textKind}); everything else is queried. A name with an
 * overlaid record, and every name above it, exists (RFC 8020). An overlaid CNAME is the only record at its name, and
 * any other overlaid type removes a published CNAME from its name (RFC 1034 §3.6.2). `*` as the first label answers for
 * names below that exist neither in the overlay nor in the DNS (RFC 4592 §2.2). Answers from the overlay are never
 * `secure`. Rejects as `resolve` does, and with `cname_loop` for a chain over 16. Without overlaid records, queries and
 * answers are those of `resolve`.
 */
export function overlay(resolve: Resolve, records: readonly OverlayChange[]): Resolve {
  const laid = layOut(records)
  return async (name, type, signal, options) => {
    const question = { resolve, laid, at: canonicalName(name), type, signal, options }
    if (laid.nodes.has(question.at)) return followed(question)
    const answer = await resolve(question.at, type, signal, options)
    return isUnchanged(question, answer) ? answer : followed(question, answer)
  }
}

/** Whether no change can concern an answer about a name without changes: most answers. */
const isUnchanged = ({ laid, at }: Pick<Question<RecordType>, 'laid' | 'at'>, { kind, cname }: Answer): boolean =>
  cname.length === 0 && (kind !== 'nxdomain' || !(laid.hasWildcard || laid.above.has(at)))

/**
 * Whether an overlay of these changes can answer a query differently, by its answer without them; an error stands for
 * itself. True also where the answer is only looked at again, such as another type at a name with changes.
 */
export function altersAnswers(
  changes: readonly OverlayChange[],
): (name: string, type: RecordType, answer: Answer | DnsError) => boolean {
  const laid = layOut(changes)
  return (name, type, answer) => {
    const at = canonicalName(name)
    const node = laid.nodes.get(at)
    if (answer instanceof DnsError) return node !== undefined
    if (!node) return !isUnchanged({ laid, at }, answer)
    return node.has(type) || node.has('CNAME') || answer.kind !== 'found' || answer.cname.length > 0
  }
}

/** From the name of the question on, whose own answer may be known, along its chain. */
async function followed<T extends RecordType>(first: Question<T>, answer?: Answer<T>): Promise<Answer<T>> {
  const chain: string[] = []
  let step = answer ? await stepFrom(first, answer) : await stepAt(first)
  while ('follow' in step) {
    chain.push(...step.follow)
    if (chain.length > MAX_CHAIN) throw new DnsError('cname_loop', { name: first.at, type: first.type })
    step = await stepAt({ ...first, at: chain.at(-1)! })
  }
  return chain.length === 0 ? step.end : joined(first.at, chain, step.end)
}

/**
 * `ask` as if name servers also had `records`: an authoritative answer contains them in place of its own. Whether and
 * how a server answers does not change.
 */
export function overlayServers(ask: AskServer, records: readonly OverlayChange[]): AskServer {
  const { nodes } = layOut(records)
  return async <T extends RecordType>(...[server, name, type, signal, options]: Parameters<typeof ask<T>>) => {
    const answer = await ask(server, name, type, signal, options)
    const own = nodes.get(canonicalName(name))?.get(type)
    if (!own || !answer.authoritative) return answer
    return { ...answerOf(name, type, withKept<T>(own, answer)), authoritative: true }
  }
}

type Changes = {
  readonly records: readonly unknown[]
  /** Which published records stay. */
  readonly keeps: 'none' | ((data: unknown) => boolean)
}
type Node = ReadonlyMap<RecordType, Changes>
/** The overlaid names, all names above them, and whether one of them is a wildcard. */
type Laid = {
  readonly nodes: ReadonlyMap<string, Node>
  readonly above: ReadonlySet<string>
  readonly hasWildcard: boolean
}
/** One step of resolution: the final answer, or the names of the chain that follow. */
type Step<T extends RecordType> = { readonly end: Answer<T> } | { readonly follow: readonly string[] }
type Question<T extends RecordType> = {
  readonly resolve: Resolve
  readonly laid: Laid
  readonly at: string
  readonly type: T
  readonly signal: AbortSignal
  readonly options: ResolveOptions | undefined
}

async function stepAt<T extends RecordType>(question: Question<T>): Promise<Step<T>> {
  const { resolve, laid, at, type, signal, options } = question
  const node = laid.nodes.get(at)
  if (node) return (await ownStep(node, question)) ?? { end: await beside(question) }
  return stepFrom(question, await resolve(at, type, signal, options))
}

/** From a name without changes, by its answer. */
async function stepFrom<T extends RecordType>(question: Question<T>, answer: Answer<T>): Promise<Step<T>> {
  const { laid, at, type } = question
  const entry = answer.cname.findIndex((target) => laid.nodes.has(target))
  if (entry >= 0) return { follow: answer.cname.slice(0, entry + 1) }
  if (answer.kind !== 'nxdomain') return { end: answer }
  const missing = answer.cname.at(-1) ?? at
  if (laid.above.has(missing)) return { end: { ...answer, kind: 'nodata', secure: false } }
  const wildcard = await wildcardFor(question, missing)
  if (!wildcard) return { end: answer }
  if (missing !== at) return { follow: answer.cname }
  return (await ownStep(wildcard, question)) ?? { end: answerOf(at, type, []) }
}

/** The records at the name itself for the type, or its CNAME. */
async function ownStep<T extends RecordType>(node: Node, question: Question<T>): Promise<Step<T> | undefined> {
  const { resolve, at, type, signal, options } = question
  const own = node.get(type)
  const target = node.get('CNAME')?.records[0] as string | undefined
  // An alias takes the place of what is removed.
  if (own && (own.records.length > 0 || target === undefined)) {
    const published = own.keeps === 'none' ? undefined : await settled(resolve(at, type, signal, options))
    // A name server that does not answer would still have to be given the records.
    if (published instanceof DnsError && own.records.length === 0) throw published
    return { end: answerOf(at, type, withKept<T>(own, published instanceof DnsError ? undefined : published)) }
  }
  return target === undefined ? undefined : { follow: [canonicalName(target)] }
}

/** The records of the changes, and the published ones that stay; those of an alias are not the name's own. */
function withKept<T extends RecordType>(
  { records, keeps }: Changes,
  published: Answer<T> | undefined,
): readonly RecordData[T][] {
  const own = records as readonly RecordData[T][]
  if (keeps === 'none' || !published || published.cname.length > 0) return own
  return [...published.records.filter((data) => keeps(data)), ...own]
}

/**
 * A type that is not overlaid at a name with other overlaid types: the published records of that name. The name exists.
 */
async function beside<T extends RecordType>({ resolve, at, type, signal, options }: Question<T>): Promise<Answer<T>> {
  if (type === 'CNAME') return answerOf(at, type, [])
  const answer = await resolve(at, type, signal, options)
  return answer.kind === 'found' && answer.cname.length === 0 ? answer : answerOf(at, type, [])
}

/**
 * The overlaid wildcard of the closest existing name above (RFC 4592 §3.3.1); the names between are queried only if
 * there is one.
 */
async function wildcardFor<T extends RecordType>(question: Question<T>, name: string): Promise<Node | undefined> {
  const { laid, resolve, type, signal, options } = question
  if (!laid.hasWildcard) return undefined
  const labels = labelsOf(name)
  const enclosers = labels.map((_, i) => labels.slice(i + 1).join('.'))
  const last = enclosers.findIndex((encloser) => laid.nodes.has(`*.${encloser}`))
  if (last < 0) return undefined
  for (const encloser of enclosers.slice(0, last)) {
    if (laid.nodes.has(encloser) || laid.above.has(encloser)) return undefined
    if ((await resolve(encloser, type, signal, options)).kind !== 'nxdomain') return undefined
  }
  return laid.nodes.get(`*.${enclosers[last]}`)
}

function layOut(changes: readonly OverlayChange[]): Laid {
  const nodes = new Map<string, Map<RecordType, OverlayChange[]>>()
  const above = new Set<string>()
  for (const change of changes) {
    const key = canonicalName(change.name)
    const node = nodes.get(key) ?? new Map<RecordType, OverlayChange[]>()
    const same = node.get(change.type)
    if (same) same.push(change)
    else nodes.set(key, node.set(change.type, [change]))
    for (let rest = parentOf(key); rest !== '' && !above.has(rest); rest = parentOf(rest)) above.add(rest)
  }
  const laid = [...nodes].map(([name, node]): [string, Node] => [
    name,
    new Map([...node].map(([type, at]) => [type, changesAt(name, type, at)])),
  ])
  return { nodes: new Map(laid), above, hasWildcard: [...nodes.keys()].some((name) => name.startsWith('*.')) }
}

/** What the changes of one name and type leave of the published records. */
function changesAt(name: string, type: RecordType, changes: readonly OverlayChange[]): Changes {
  const records = changes.flatMap((change) => ('remove' in change ? [] : [change.data as unknown]))
  const removals = changes.filter((change) => 'remove' in change)
  const all = removals.some(({ data }) => data === undefined)
  if (all || (records.length > 0 && (type !== 'TXT' || hasOneKind(name)))) return { records, keeps: 'none' }
  const removed = new Set(removals.map(({ data }) => JSON.stringify(data)))
  const kinds = new Set(type === 'TXT' ? records.map((data) => textKind(name, String(data))) : [])
  return {
    records,
    keeps: (data) => !removed.has(JSON.stringify(data)) && !(type === 'TXT' && kinds.has(textKind(name, String(data)))),
  }
}

const parentOf = (name: string): string => labelsOf(name).slice(1).join('.')

const answerOf = <T extends RecordType>(name: string, type: T, records: readonly RecordData[T][]): Answer<T> => ({
  kind: records.length > 0 ? 'found' : 'nodata',
  name,
  type,
  records,
  ttlSeconds: TTL_SECONDS,
  cname: [],
  secure: false,
  ede: [],
})

const joined = <T extends RecordType>(name: string, chain: readonly string[], end: Answer<T>): Answer<T> => ({
  ...end,
  name,
  cname: [...chain, ...end.cname],
  secure: false,
})
