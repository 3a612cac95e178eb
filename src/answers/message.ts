import { z } from 'zod'
import type { AnswerOf } from './answer.ts'
import { blacklistVerdict, listEntry } from './blacklist.ts'
import { domainRole } from './check.ts'
import { finding, grade } from './finding.ts'
import { profileAnswer, profileField } from './profile.ts'
import { savedField } from './stored.ts'

const strings = z.array(z.string())
const spfResult = z.enum(['none', 'neutral', 'pass', 'fail', 'softfail', 'temperror', 'permerror'])
const policy = z.enum(['none', 'quarantine', 'reject'])

/** Where one subject of a message stands on the lists: only its listings are repeated. */
const listings = {
  verdict: blacklistVerdict,
  answered: z.int(),
  total: z.int(),
  listings: z.array(listEntry.omit({ duration_ms: true })),
}

export const messageAnswer = z
  .strictObject({
    verdict: z.enum(['passes', 'needs_repair', 'unknown']),
    summary: z.string(),
    input: z
      .strictObject({ kind: z.enum(['message', 'header_only', 'pasted', 'mbox', 'emlx', 'msg']), notes: strings })
      .meta({ description: 'what was understood of the octets, and what was taken away from around the message' }),
    from: z.strictObject({
      address: z.string().nullable().meta({ description: 'the first author address' }),
      name: z.string().optional(),
      domain: z.string().nullable().meta({ description: 'the author domain; null without one, or with several' }),
      authors: z.int(),
    }),
    envelope: z.strictObject({
      ip: z.string().nullable(),
      helo: z.string().nullable(),
      mail_from: z.string().nullable().meta({ description: 'empty for a bounce; null if it is not known' }),
      known_from: z.enum(['parameter', 'connection', 'received', 'none']),
    }),
    receivers: z
      .array(
        z.strictObject({
          host: z.string(),
          operator: z.string().optional(),
          address: z.string(),
          helo: z.string(),
          chosen: z.boolean(),
        }),
      )
      .optional()
      .meta({ description: 'who may have received it, where that is not sure; one of them for `received_by`' }),
    path: z.array(
      z.strictObject({
        from: z.string(),
        by: z.string(),
        with: z.string(),
        at: z.iso.datetime().optional(),
        delay_ms: z.int().optional().meta({ description: 'time since the hop before; negative if a clock is wrong' }),
        tls: z.boolean().nullable(),
        address: z.string().optional(),
        ptr: strings.optional(),
        forward_confirmed: z.boolean().nullable().optional(),
        trusted: z
          .boolean()
          .meta({ description: 'the host that wrote the field is the receiver, so it may be believed' }),
      }),
    ),
    path_left_out: z.int().optional(),
    spf: z.strictObject({
      result: z.enum([...spfResult.options, 'unknown']),
      domain: z.string().nullable(),
      aligned: z.boolean().nullable(),
      because: z.string(),
    }),
    dkim: z.array(
      z.strictObject({
        domain: z.string(),
        selector: z.string(),
        result: z.enum(['pass', 'fail', 'policy', 'permerror', 'temperror', 'neutral', 'unknown']),
        because: z.string(),
        cause: z
          .string()
          .optional()
          .meta({ description: 'the id of the cause, such as change.footer or signature.key_gone' }),
        aligned: z.boolean().nullable(),
        algorithm: z.string(),
        key_bits: z.int().nullable(),
        signed_headers: strings,
        unsigned: strings.meta({ description: 'fields of the message that the signature does not cover' }),
        body_length: z.int().nullable().meta({ description: 'the tag l: octets of the body that are covered' }),
        expires_at: z.string().nullable(),
        canonicalization: z.string(),
        testing: z.boolean().optional().meta({ description: 'the key has t=y' }),
      }),
    ),
    dmarc: z.strictObject({
      result: z.enum(['pass', 'fail', 'none', 'temperror', 'permerror', 'unknown']),
      domain: z.string().nullable(),
      policy: policy.nullable(),
      would: policy.nullable().meta({ description: 'what the policy asks receivers to do with a message that fails' }),
      aligned_by: z.array(z.enum(['spf', 'dkim'])),
      organizational_domain: z.string().nullable(),
      because: z.string(),
      found_at: z.string().optional(),
      adkim: z.enum(['r', 's']).optional(),
      aspf: z.enum(['r', 's']).optional(),
    }),
    arc: z.strictObject({
      result: z.enum(['none', 'pass', 'fail', 'temperror', 'unknown']),
      sets: z.array(
        z.strictObject({
          instance: z.int(),
          domain: z.string(),
          selector: z.string(),
          cv: z.string(),
          claims: z.array(z.strictObject({ method: z.string(), result: z.string(), domain: z.string() })),
        }),
      ),
      because: z.string().optional(),
    }),
    authentication_results: z.array(
      z.strictObject({
        host: z.string(),
        trusted: z.boolean(),
        claims: z.array(z.strictObject({ method: z.string(), result: z.string(), domain: z.string() })),
        agrees: z.boolean().nullable().meta({ description: 'we come to the same; null if nothing can be compared' }),
      }),
    ),
    headers: z.strictObject({
      bytes: z.int(),
      lines: z.int(),
      mime: z.string(),
      attachments: z.array(z.strictObject({ name: z.string(), type: z.string(), bytes: z.int() })),
      attachments_left_out: z.int().optional(),
      fields: z.int().meta({ description: 'number of header fields' }),
      subject: z.string().optional(),
      date: z.iso.datetime().optional(),
      message_id: z.string().optional(),
    }),
    bulk_sender: profileAnswer,
    links: z.array(
      z.strictObject({
        host: z.string(),
        times: z.int(),
        lists: strings
          .nullable()
          .meta({ description: 'names of the domain lists that list it; null if they were not asked' }),
      }),
    ),
    blacklists: z.strictObject({
      address: z.strictObject({ ip: z.string(), ...listings }).nullable(),
      domains: z.array(
        z.strictObject({
          domain: z.string(),
          as: z.array(z.enum(['author', 'envelope', 'signature', 'link'])),
          ...listings,
        }),
      ),
    }),
    domain: z
      .strictObject({
        domain: z.string(),
        role: domainRole,
        score: z.int(),
        grade,
        first_finding: finding.nullable(),
      })
      .nullable()
      .meta({ description: 'the check of the author domain' }),
    findings: z.array(finding),
    observed_at: z.iso.datetime(),
    ...profileField,
    ...savedField,
  })
  .meta({ id: 'Message' })
export type MessageAnswer = AnswerOf<typeof messageAnswer>

/** The fields of a message that a notice about another one does not have. */
const NOT_OF_BOUNCES = {
  from: true,
  envelope: true,
  path: true,
  spf: true,
  dkim: true,
  dmarc: true,
  arc: true,
  authentication_results: true,
  headers: true,
  bulk_sender: true,
  links: true,
  blacklists: true,
  domain: true,
  findings: true,
} as const

/** What a bounce, or one pasted reply of a server, says: nothing of it is proved. */
const bounce = z
  .strictObject({
    recipients: z.array(
      z.strictObject({
        address: z.string().nullable().meta({ description: 'null for a reply alone' }),
        action: z.enum(['failed', 'delayed', 'delivered', 'relayed', 'expanded']),
        status: z.string().nullable().meta({ description: 'enhanced status code (RFC 3463)' }),
        code: z.int().nullable().meta({ description: 'SMTP reply code' }),
        remote_mta: z.string().nullable(),
        text: z.string().meta({ description: 'what the server said' }),
        about: z.enum([
          'mailbox',
          'recipient_domain',
          'sender_domain',
          'sender_address',
          'sending_host',
          'message',
          'policy',
          'unknown',
        ]),
        permanent: z.boolean(),
        meaning: z.string(),
        to_do: z.string().optional(),
      }),
    ),
    returned: z
      .strictObject({
        from: z.string(),
        to: z.string(),
        subject: z.string(),
        date: z.string(),
        analysis: messageAnswer
          .nullable()
          .meta({ description: 'the analysis of the returned message, or of its header' }),
      })
      .optional(),
  })
  .meta({ id: 'Bounce' })

/** The answer about a bounce: the fields of a message are null. */
export const bounceAnswer = messageAnswer
  .omit({ ...NOT_OF_BOUNCES, path_left_out: true, receivers: true, profile: true })
  .extend({
    verdict: z.literal('unknown'),
    input: z.strictObject({ kind: z.literal('bounce'), notes: strings }),
    bounce,
    ...nullOf(NOT_OF_BOUNCES),
  })
export type BounceAnswer = AnswerOf<typeof bounceAnswer>

/** The answer of `POST /v1/message`. */
export const messageResult = z.union([messageAnswer, bounceAnswer])
export type MessageResult = MessageAnswer | BounceAnswer

function nullOf<K extends string>(names: Readonly<Record<K, true>>): Record<K, z.ZodNull> {
  return Object.fromEntries(Object.keys(names).map((name) => [name, z.null()])) as Record<K, z.ZodNull>
}

/** A one-time address: the answer of `POST /v1/message/address`. */
export const messageAddressAnswer = z.strictObject({
  id: z.string().meta({ description: 'reads what came in; the address does not tell it' }),
  address: z.string().meta({ description: 'takes one message' }),
  expires_at: z.iso.datetime(),
})
export type MessageAddressAnswer = AnswerOf<typeof messageAddressAnswer>

/** What came to a one-time address: the answer of `GET /v1/message/{id}`. */
export const receivedMessageAnswer = z
  .strictObject({
    id: z.string(),
    state: z.enum(['waiting', 'received', 'expired']),
    answer: messageAnswer.optional().meta({ description: 'the analysis; absent while it is made' }),
    address: z.string(),
    expires_at: z.iso.datetime(),
  })
  .meta({ id: 'ReceivedMessage' })
export type ReceivedMessageAnswer = AnswerOf<typeof receivedMessageAnswer>
