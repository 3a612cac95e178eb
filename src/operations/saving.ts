import type { MessageResult } from '../answers/message.ts'
import type { Saved, StoredKind } from '../answers/stored.ts'
import type { Stored, ToStore } from '../monitors/stored.ts'
import { parseEmail } from '../names/email.ts'
import { ownerOf } from '../names/owner.ts'
import { bodyFlagParam, durationParam, flagParam, optional } from './params.ts'
import { accessError, inputError } from './problems.ts'

const DAY_MS = 86_400_000
const EXPIRES_MS = 90 * DAY_MS

/** The parameters of an operation whose answer may be stored. */
export const saveParams = {
  save: flagParam('store the answer and return its link', 'answer'),
  expires_in: optional(
    durationParam(
      { minMs: 60_000, maxMs: 730 * DAY_MS },
      { description: 'lifetime of this answer', group: 'answer', fallback: '90d', example: '30d' },
    ),
  ),
}
/** The same in a body. */
export const bodySaveParams = { ...saveParams, save: bodyFlagParam('store the answer and return its link', 'answer') }

/** How an operation stores its answers; its `params` have {@link saveParams}. */
export type Saves<A> = {
  readonly kind: StoredKind
  /** The subject of the answer, and its outcome in one word. */
  readonly about: (answer: A) => Pick<ToStore, 'subject' | 'names' | 'status' | 'score'>
  readonly add: (answer: A, fields: { readonly saved: Saved }) => A
  /** What of it is stored; default all. Throws AppError while there is nothing to store. */
  readonly part?: (answer: A) => object
}

type Graded = {
  readonly domain: string
  readonly status: ToStore['status']
  readonly score: number
  readonly grade: string | null
}

/** How an answer about a domain is stored; without a grade it has no score. */
export const aboutDomain = ({ domain, status, score, grade }: Graded): ReturnType<Saves<Graded>['about']> => ({
  subject: domain,
  names: { domain },
  status,
  score: grade === null ? null : score,
})

/** How the analysis of a message is stored. */
export const aboutMessage = ({ from, verdict }: MessageResult): ReturnType<Saves<MessageResult>['about']> => ({
  subject: from?.domain ?? '',
  names: from?.domain ? { domain: from.domain } : {},
  status: verdict,
  score: null,
})

/**
 * How long the answer to an input is stored, ms; undefined: not at all. Throws AppError for an expiry without `save`.
 */
export function wishOf(input: object): number | undefined {
  const [save, expiresIn]: unknown[] = [Reflect.get(input, 'save'), Reflect.get(input, 'expires_in')]
  if (save === true) return typeof expiresIn === 'number' ? expiresIn : EXPIRES_MS
  if (expiresIn === undefined) return undefined
  throw inputError('expires_unsaved', undefined, { parameter: 'expires_in' })
}

type By = { readonly caller?: { readonly key?: string; readonly peer?: string; readonly isAdmin: boolean } }

/**
 * An answer within its bounds, with its stored URL: what is stored equals what is sent. Nodes store nothing for each
 * other.
 */
export async function savedAnswer<A extends object>(
  ctx: By,
  stored: () => Promise<Stored>,
  { kind, about, add, part }: Saves<A>,
  sent: A,
  expiresInMs: number,
): Promise<A> {
  const answer = part ? part(sent) : sent
  const saved = await (await stored()).save({ kind, ...about(sent), answer, expiresInMs }, ownerOf(ctx))
  return add(sent, { saved })
}

/** Throws AppError for a caller without permission to store. */
export function refuseToStore({ caller }: By): void {
  if (caller?.peer !== undefined) throw accessError('node_stores', undefined, { parameter: 'save' })
}

/**
 * An address as the names of a stored answer: the mailbox, and its domain. An address that cannot be parsed is stored
 * as given.
 */
export function mailboxNames(text: string): ToStore['names'] {
  const email = parseEmail(text)
  const shown = text.slice(0, 320)
  return email.ok ? { email: shown.toLowerCase(), domain: email.value.domain } : { email: shown.toLowerCase() }
}
