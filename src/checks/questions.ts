import { type Answer, DnsError, type DnsReason, type RecordType, type Resolve } from '../net/dns/resolver.ts'
import type { Ctx } from '../world.ts'

/** Maximum number of different queries of one check; the owner of the domain decides how many it needs. */
const MOST = 120
const USUAL = 60
/** Number of further queries for each address of a mail host. */
const PER_ADDRESS = 12
/** Number of addresses from which on nothing is added. */
const MOST_ADDRESSES = (MOST - USUAL) / PER_ADDRESS

/**
 * The parts of a check's queries, in order. Of each: the number that nothing else can use up; how many more for each of
 * up to five addresses of mail hosts; and how many more, in this order, of what {@link VARIABLE} have left.
 */
const PARTS = {
  mx: [7, 5, 0],
  spf: [8, 2, 0],
  dmarc: [5, 0, 0],
  dkim: [10, 0, 3],
  ptr: [0, 4, 0],
  senders: [2, 0, 0],
  mta_sts: [1, 0, 0],
  tls_rpt: [1, 0, 0],
  dane: [1, 1, 0],
  dnssec: [4, 0, 2],
  ns: [7, 0, 5],
  consents: [6, 0, 0],
  bimi: [2, 0, 0],
  caa: [3, 0, 0],
  soa: [0, 0, 0],
  guessed: [2, 0, 20],
  plan: [1, 0, 0],
} as const satisfies Readonly<Record<string, readonly [sure: number, each: number, more: number]>>
export type PartName = keyof typeof PARTS
const ORDER = Object.keys(PARTS) as readonly PartName[]
const PLACE = Object.fromEntries(ORDER.map((name, i) => [name, i])) as Readonly<Record<PartName, number>>
/** The parts whose size the owner of the domain decides. */
const VARIABLE: readonly PartName[] = ['mx', 'spf', 'dmarc']

/** A query of a check, asked by any of its parts. */
type Query = {
  readonly name: string
  readonly type: string
  /** The look-up of the check that sent it; 0: none did. */
  run: number
  /** The parts of that look-up that may have its answer, as bits. */
  parts: number
  /** What was decided for the parts that had to wait. */
  verdicts?: Map<PartName, Promise<boolean>>
  /** The look-up that left it out. */
  refusedIn?: number
  answer?: Promise<Answer>
}

/** The queries of one part in one look-up. */
type Part = {
  /** Number of different queries that it asked for. */
  places: number
  /** The decisions of this part, one after another. */
  last: Promise<unknown>
  isStarted: boolean
  isEnded: boolean
  /** Settles when it asks no more; absent while nobody waits. */
  ended?: PromiseWithResolvers<void>
}

/** Number of queries, the first ones of a check, without an answer after which the resolver is taken for dead. */
const SILENCE = 8

/**
 * The queries of one check, at most 60, 12 more for each address of its mail hosts, and never more than 120. Each is
 * sent once, and its answer kept. What is left out is decided by the order of {@link PARTS} and within a part by the
 * order in which its lookup asks, never by the order in which answers come: a query beyond its part's own number waits
 * until every part before it is complete. A query that is left out fails with `too_many_questions`, now and in every
 * later look-up of the same check. While the first eight have no answer, neither have the others.
 */
export class Questions {
  private readonly queries = new Map<string, Map<string, Query>>()
  private readonly allotment = new Allotment()
  private readonly silence = new Silence()
  private run = 1
  /** The last look-up that left out a query other than those for selectors that are guessed. */
  private cutRun = 0
  private isFirst = true
  private parts = new Map<PartName, Part>()
  /** How many queries of `mx` may be sent, by the addresses in the answers so far. */
  private mxLimit: number = PARTS.mx[0]

  /** Begins another look-up of the same check: it may send what the ones before have left. */
  again(): void {
    this.isFirst &&= !this.parts.values().some(({ isStarted }) => isStarted)
    this.allotment.again()
    this.run++
    this.parts = new Map()
  }

  /** Whether this look-up left out what the score may need; selectors that are guessed are not counted. */
  isCut = (): boolean => this.cutRun === this.run

  /** Addresses of mail hosts that are laid over what is published: each has its queries, as a published one. */
  expect(addresses: readonly unknown[]): void {
    this.allotment.expect(addresses)
  }

  start(...parts: readonly PartName[]): void {
    for (const name of parts) this.part(name).isStarted = true
  }

  /** A part asks no more. */
  end(...parts: readonly PartName[]): void {
    for (const name of parts) {
      const part = this.part(name)
      part.isEnded = true
      part.ended?.resolve()
    }
  }

  /** How many queries of the first look-up a part after {@link VARIABLE} may send for certain, once that is known. */
  async room(name: PartName): Promise<number> {
    if (this.isFirst) await Promise.all(VARIABLE.map((one) => this.ended(one)))
    return this.allotment.reserve(name) + this.allotment.more(name)
  }

  /** The resolver within these limits; the part of a query is one of its options. */
  limited({ resolve, signal: own }: Pick<Ctx, 'resolve' | 'signal'>, domain: string): Resolve {
    return <T extends RecordType>(
      asked: string,
      type: T,
      signal: AbortSignal,
      options?: Parameters<Resolve>[3],
    ): Promise<Answer<T>> => {
      const name = asked.toLowerCase()
      const isUnchecked = options?.checkingDisabled === true
      const query = this.query(name, type, isUnchecked)
      const part = ownerOf(name, type, domain) ?? (options?.part as PartName | undefined) ?? 'plan'
      const may = this.verdict(part, query)
      // One with a signal of its own is not kept: it may be given up before the others.
      const isOfHost = part === 'mx' && (type === 'A' || type === 'AAAA')
      if (may === true && query.answer !== undefined && signal === own) {
        if (isOfHost) this.allotment.hear(query, query.answer) // another part may have asked first
        return query.answer as Promise<Answer<T>>
      }
      const send = (): Promise<Answer<T>> => {
        const known = signal === own ? query.answer : undefined
        if (known !== undefined) return known as Promise<Answer<T>>
        const answer = this.silence.send(query, () =>
          resolve(name, type, signal, isUnchecked ? { checkingDisabled: true } : undefined),
        )
        if (signal === own) query.answer = answer as Promise<Answer>
        return answer
      }
      const answer = this.whenMay(part, may, query, send)
      if (isOfHost) this.allotment.hear(query, answer)
      return answer
    }
  }

  /** A query to a name server itself, if it may be sent. */
  direct<T>(name: string, type: string, send: () => Promise<T>): Promise<T> {
    const query = { name, type, run: 0, parts: 0 }
    return this.whenMay('ns', this.verdict('ns', query), query, send)
  }

  private whenMay<T>(
    part: PartName,
    may: boolean | Promise<boolean>,
    query: Query,
    send: () => Promise<T>,
  ): Promise<T> {
    if (may === true) return send()
    return Promise.resolve(may).then((isGranted) => {
      if (isGranted) return send()
      if (part !== 'guessed') this.cutRun = this.run
      throw new DnsError('too_many_questions', query)
    })
  }

  private part(name: PartName): Part {
    const known = this.parts.get(name)
    if (known) return known
    const part = { places: 0, last: NOTHING, isStarted: false, isEnded: false }
    this.parts.set(name, part)
    return part
  }

  private query(name: string, type: string, isUnchecked: boolean): Query {
    const kind = isUnchecked ? `${type} CD` : type
    let ofKind = this.queries.get(kind)
    if (!ofKind) this.queries.set(kind, (ofKind = new Map()))
    let query = ofKind.get(name)
    if (!query) ofKind.set(name, (query = { name, type, run: 0, parts: 0 }))
    return query
  }

  private verdict(name: PartName, query: Query): boolean | Promise<boolean> {
    const bit = 1 << PLACE[name]
    if (query.run > 0 && (query.run < this.run || query.parts & bit)) return true
    if (query.refusedIn !== undefined && query.refusedIn < this.run) return false
    const same = query.verdicts?.get(name)
    if (same !== undefined) return same
    const part = this.part(name)
    const place = part.places++
    if (this.isFirst && place < PARTS[name][0]) return this.grant(query, bit)
    const decided = part.last.then(async () => {
      if (await this.decide(name, query, place)) return this.grant(query, bit)
      query.refusedIn = this.run
      return false
    })
    part.last = decided
    query.verdicts = (query.verdicts ?? new Map()).set(name, decided)
    return decided
  }

  private grant(query: Query, bit: number): true {
    if (query.run === 0) {
      query.run = this.run
      this.allotment.sent.push(query)
    }
    query.parts |= bit
    return true
  }

  private async decide(name: PartName, query: Query, place: number): Promise<boolean> {
    if (this.isFirst && name === 'mx') {
      if (place < this.mxLimit) return true
      await this.allotment.heard(place - 1) // the first query is that for MX
      this.mxLimit = PARTS.mx[0] + PARTS.mx[1] * this.allotment.known()
      return place < this.mxLimit
    }
    if (this.isFirst) {
      await this.ended('mx')
      if (place < this.allotment.reserve(name)) return true
      if (PARTS[name][2] > 0 && place < (await this.room(name))) return true
    }
    const earlier = ORDER.slice(0, PLACE[name])
    await Promise.all(earlier.filter((one) => this.parts.get(one)?.isStarted).map((one) => this.ended(one)))
    if (query.parts & (bitOf(name) - 1)) return true
    return this.allotment.hasRoom(name, this.isFirst)
  }

  private ended(name: PartName): Promise<void> | undefined {
    const part = this.part(name)
    return part.isEnded ? undefined : (part.ended ??= Promise.withResolvers<void>()).promise
  }
}

/** How many queries the parts of a check may send, by what was sent and the addresses of its mail hosts. */
class Allotment {
  /** All that were sent, and how many of them before this look-up. */
  readonly sent: Query[] = []
  private spent = 0
  private given: ReadonlyMap<PartName, number> | undefined
  private readonly addresses = new Set<unknown>()
  /** The answers about mail hosts, in the order of the queries. */
  private readonly hosts: Promise<void>[] = []
  private readonly counted = new Set<Query>()

  again(): void {
    this.spent = this.sent.length
  }

  /** Counts the addresses in an answer about a mail host. */
  hear(query: Query, answer: Promise<Answer>): void {
    if (this.counted.has(query)) return
    this.counted.add(query)
    this.hosts.push(
      answer.then(
        ({ records }) => this.expect(records),
        () => {},
      ),
    )
  }

  expect(addresses: readonly unknown[]): void {
    for (const address of addresses) this.addresses.add(address)
  }

  /** The first answers about mail hosts. */
  heard(count: number): Promise<unknown> {
    return Promise.all(this.hosts.slice(0, count))
  }

  /** Whether a part may send one more query than it has, with those that the parts before it have sent. */
  hasRoom(name: PartName, isFirst: boolean): boolean {
    const before = this.sentBy(bitOf(name) - 1)
    const own = this.sentBy((bitOf(name) << 1) - 1) - before
    return own < this.most() - this.spent - before - (isFirst ? this.kept(PLACE[name]) : 0)
  }

  known = (): number => Math.min(MOST_ADDRESSES, this.addresses.size)

  /** How many queries of a part nothing else can use up, once the mail hosts are known. */
  reserve(name: PartName): number {
    const [sure, each] = PARTS[name]
    return sure + (name === 'mx' ? 0 : each * this.known())
  }

  /** What a part after {@link VARIABLE} gets of what these have left: in order. */
  more(name: PartName): number {
    this.given ??= this.shares()
    return this.given.get(name) ?? 0
  }

  private shares(): ReadonlyMap<PartName, number> {
    const rest = ORDER.slice(VARIABLE.length)
    let left = this.most() - this.sentBy((1 << VARIABLE.length) - 1) - this.reserved(rest)
    return new Map(
      rest.map((name) => {
        const given = Math.max(0, Math.min(PARTS[name][2], left))
        left -= given
        return [name, given]
      }),
    )
  }

  /** Number of queries of this look-up that were sent for one of these parts. */
  private sentBy(parts: number): number {
    let count = 0
    for (let i = this.spent; i < this.sent.length; i++) if (this.sent[i]!.parts & parts) count++
    return count
  }

  /** What the parts after one have for themselves. */
  private kept(at: number): number {
    const later = ORDER.slice(at + 1)
    const more = at < VARIABLE.length ? [] : later.map((one) => this.more(one))
    return more.reduce((sum, count) => sum + count, this.reserved(later))
  }

  private most = (): number => Math.min(MOST, USUAL + PER_ADDRESS * this.addresses.size)
  private reserved = (parts: readonly PartName[]): number => parts.reduce((sum, one) => sum + this.reserve(one), 0)
}

/** Whether the resolver answers at all: while the first queries of a check have no answer, no more are sent. */
class Silence {
  /** Those that ended without an answer; undefined once there was one. */
  private unanswered: DnsError[] | undefined = []

  /** Sends a query, unless the resolver is taken for dead. */
  send<T>(query: Query, send: () => Promise<T>): Promise<T> {
    const { unanswered } = this
    if (!unanswered) return send()
    const [{ reason, server } = { reason: 'timeout' } as const] = unanswered
    if (unanswered.length >= SILENCE) return Promise.reject(new DnsError(reason, query, server ? { server } : {}))
    const answer = send()
    answer.then(
      () => (this.unanswered = undefined),
      (error) => {
        if (error instanceof DnsError && SILENT.includes(error.reason)) this.unanswered?.push(error)
        else this.unanswered = undefined
      },
    )
    return answer
  }
}

const SILENT: readonly DnsReason[] = ['timeout', 'network']
const NOTHING: Promise<unknown> = Promise.resolve()
const bitOf = (name: PartName): number => 1 << PLACE[name]

/** The part of what several checks ask, whichever comes first. */
function ownerOf(name: string, type: RecordType, domain: string): PartName | undefined {
  const isAbove = (at: string): boolean => domain === at || domain.endsWith(`.${at}`)
  if (type === 'TXT') {
    if (name === domain) return 'spf'
    return name.startsWith('_dmarc.') && (isAbove(name.slice(7)) || name === `_dmarc.${domain}.${domain}`)
      ? 'dmarc'
      : undefined
  }
  if (type === 'MX') return name === domain ? 'mx' : undefined
  return type === 'SOA' && (name === '.' || isAbove(name)) ? 'dnssec' : undefined
}

/** A context whose queries are of a part of the check's queries, but for those of a part within it. */
export function inPart<C extends Pick<Ctx, 'resolve' | 'questions'>>(ctx: C, part: PartName): C {
  if (!ctx.questions) return ctx
  const { resolve: ask } = ctx
  const own = { part }
  const resolve: Resolve = (name, type, signal, options) =>
    ask(name, type, signal, options ? { part, ...options } : own)
  return { ...ctx, resolve }
}
