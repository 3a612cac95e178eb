import {
  badgeAnswer,
  consentAnswer,
  consentQuestionAnswer,
  unsubscribeAnswer,
  unsubscribeQuestion,
} from '../../answers/monitors.ts'
import { only } from '../../base/at-most.ts'
import { parsed, problem } from '../../base/problem.ts'
import { valueProblem } from '../../base/value-problems.ts'
import { badgeSvg } from '../../monitors/present.ts'
import { PROFILE_NAMES } from '../../profiles/domain.ts'
import { defineOperation, ok } from '../operation.ts'
import { choiceParam, optional, textParam } from '../params.ts'
import { consentIdParam, exampleMonitor, unsubscribeParam } from './shared.ts'

const badgeParam = textParam<{ readonly id: string; readonly isImage: boolean }>(
  'not_found',
  (text) => {
    const [, id, form] = /^(mon_[\w-]{22})\.(svg|json)$/.exec(text) ?? []
    return id === undefined
      ? problem(valueProblem('id', { text, kind: 'badge' }))
      : parsed({ id, isImage: form === 'svg' })
  },
  { description: 'id of a public monitor, with .svg or .json', example: `${exampleMonitor.id}.json` },
)

const profileParam = optional(
  textParam<string>('invalid_parameter', parsed, {
    description: 'show whether the domain meets this profile',
    choices: PROFILE_NAMES,
  }),
)

/** The badge of a public monitor. */
export const badge = defineOperation({
  name: 'badge',
  method: 'GET',
  path: '/v1/badge/{badge}',
  summary: 'Get the badge of a public monitor (.svg or .json)',
  scope: 'read',
  open: true,
  embeddable: true,
  streams: ['svg'],
  headers: { 'cache-control': 'public, max-age=300', 'cross-origin-resource-policy': 'cross-origin' },
  params: { badge: badgeParam, profile: profileParam },
  answer: badgeAnswer,
  example: {
    input: { badge: `${exampleMonitor.id}.json` },
    output: { schemaVersion: 1, label: 'mail example.org', message: '97/100', color: 'brightgreen' },
  },
  deadlineMs: 5_000,
  uses: ['monitors'],
  run: async (_ctx, { monitors }, { badge: { id, isImage }, profile }) => {
    const answer = await (await monitors()).badge(id, profile)
    if (!isImage) return ok(answer)
    return { status: 200, stream: { contentType: 'image/svg+xml; charset=utf-8', text: only(badgeSvg(answer)) } }
  },
})

/** What the pages have in common that ask before they change anything. */
const CONFIRMING = {
  method: 'GET',
  summary: 'Show a page that asks for confirmation',
  scope: 'read',
  open: true,
  isPage: true,
  streams: ['html'],
  headers: { 'x-robots-tag': 'noindex, nofollow', 'referrer-policy': 'same-origin' },
  deadlineMs: 5_000,
  uses: [],
} as const
const pageParam = choiceParam(['html', 'json'], 'html', { description: 'the page, or nothing' })
const resultParam = choiceParam(['json', 'html'], 'json', { description: 'the answer, or a page that says so' })

/** What people do from a mail or a page, without a key. */
const CONFIRMED = {
  method: 'POST',
  scope: 'read',
  open: true,
  ignoresBody: true,
  streams: ['html'],
  deadlineMs: 10_000,
  uses: ['monitors'],
} as const

/** One-click unsubscription (RFC 8058): the body is `List-Unsubscribe=One-Click`, and is ignored. */
export const unsubscribe = defineOperation({
  ...CONFIRMED,
  name: 'unsubscribe',
  path: '/u/{token}',
  summary: 'Unsubscribe an address from the mail of a monitor, or from digests',
  params: { token: unsubscribeParam, format: resultParam },
  answer: unsubscribeAnswer,
  example: { input: { token: 'msg_AAAAAAAAAAAAAAAAAAAAAA' }, output: { unsubscribed: true } },
  run: async (_ctx, { monitors }, { token, format }) => {
    await (await monitors()).unsubscribe(token)
    return format === 'json'
      ? ok({ unsubscribed: true as const })
      : pageOf('Unsubscribed', '<p>This address gets no more of this mail.</p>')
  },
})

/** The page behind the link in a mail: reading it changes nothing, because programs follow links too. */
export const unsubscribePage = defineOperation({
  ...CONFIRMING,
  name: 'unsubscribe-page',
  path: '/u/{token}',
  partOf: 'unsubscribe',
  params: {
    token: unsubscribeParam,
    format: pageParam,
  },
  answer: unsubscribeQuestion,
  example: { input: { token: 'msg_AAAAAAAAAAAAAAAAAAAAAA', format: 'json' }, output: { unsubscribed: false } },
  run: async (_ctx, _deps, { format }) =>
    format === 'json'
      ? ok({ unsubscribed: false as const })
      : pageOf('Stop this mail?', '<form method="post" action="?format=html"><button>Unsubscribe</button></form>'),
})

/** An address consents to mail of monitors (double opt-in). */
export const consent = defineOperation({
  ...CONFIRMED,
  name: 'consent',
  path: '/v1/consent/{consent}',
  summary: 'Consent to mail from the monitors of a key',
  params: { consent: consentIdParam, format: resultParam },
  answer: consentAnswer,
  example: { input: { consent: 'con_AAAAAAAAAAAAAAAAAAAAAA' }, output: { consented: true } },
  run: async (_ctx, { monitors }, { consent: id, format }) => {
    await (await monitors()).consent(id)
    return format === 'json'
      ? ok({ consented: true as const })
      : pageOf('You will get these messages', '<p>Each of them has a link that ends them.</p>')
  },
})

/** The page behind the link of a question: reading it changes nothing, because programs follow links too. */
export const consentPage = defineOperation({
  ...CONFIRMING,
  name: 'consent-page',
  path: '/v1/consent/{consent}',
  partOf: 'consent',
  params: {
    consent: consentIdParam,
    format: pageParam,
  },
  answer: consentQuestionAnswer,
  example: { input: { consent: 'con_AAAAAAAAAAAAAAAAAAAAAA', format: 'json' }, output: { consented: false } },
  run: async (_ctx, _deps, { format }) =>
    format === 'json'
      ? ok({ consented: false as const })
      : pageOf(
          'Do you want messages from this service?',
          '<form method="post" action="?format=html"><button>Yes, send them</button></form>',
        ),
})

/** A page for people who have no key. */
const pageOf = (title: string, content: string) => ({
  status: 200 as const,
  stream: { contentType: 'text/html; charset=utf-8', text: only(page(title, content)) },
})

const page = (title: string, content: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title></head>
<body><main><h1>${title}</h1>${content}</main></body></html>
`
