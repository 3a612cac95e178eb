import { defineFindings, info, low, medium } from '../check.ts'

export const findings = defineFindings({
  'caa.none': low({
    title: 'No CAA record',
    detail: ({ domain }) =>
      `Neither ${domain} nor a name above it restricts which authorities may issue certificates for it.`,
    repair: 'Publish a CAA record with the tag issue and the domain of your certificate authority.',
    reference: 'RFC 8659 §3',
  }),
  'caa.no_mail': info({
    title: 'No CAA record, and no mail',
    detail: ({ domain, reason }) =>
      `${domain} ${reason}. If it has no website either, the CAA record 0 issue ";" declares that no certificate may be issued for it.`,
    reference: 'RFC 8659 §4.2',
  }),
  'caa.no_issue': low({
    title: 'CAA records without issue',
    detail: ({ name }) => `The CAA records of ${name} have no issue property, so any authority may issue certificates.`,
    repair: 'Add a CAA record with the tag issue and the domain of your certificate authority.',
    reference: 'RFC 8659 §4.2',
  }),
  'caa.nobody': info({
    title: 'No authority may issue certificates',
    detail: ({ name }) => `The CAA records of ${name} permit no certificate authority.`,
    reference: 'RFC 8659 §4.2',
  }),
  'caa.inherited': info({
    title: 'CAA records are inherited',
    detail: ({ domain, name }) => `${domain} has no CAA record of its own; those of ${name} apply.`,
    reference: 'RFC 8659 §3',
  }),
  'caa.unknown_critical': medium({
    title: 'Unknown critical CAA property',
    detail: ({ tag }) =>
      `The property ${tag} is marked critical, but it is not a known property: authorities must refuse to issue certificates.`,
    repair: 'Correct the tag, or clear the critical flag.',
    reference: 'RFC 8659 §4.1',
  }),
  'caa.syntax': medium({
    title: 'Invalid CAA record',
    detail: ({ tag, problem }) => `The value of ${tag} cannot be read (${problem}); it permits no authority.`,
    repair: 'Write the domain of the authority, or a single semicolon if no authority may issue certificates.',
    reference: 'RFC 8659 §4.2',
  }),
})
