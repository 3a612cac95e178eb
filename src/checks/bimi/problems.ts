import { problemsOf, quoted, shown } from '../../base/problem.ts'

type Text = { text: string }
type Max = { max: number }
type Name = { name: string }

export const bimiProblem = problemsOf('bimi_record', {
  version: () => 'the record does not begin with "v=BIMI1;"',
  too_many: ({ max }: Max) => `the record has more than ${max} tags`,
  form: ({ text }: Text) => `${quoted(text)} is not a tag of the form name=value`,
  twice: ({ name }: Name) => `the tag ${shown(name, 40)} occurs twice`,
  no_logo: () => 'the tag l is missing',
})

/** Why a URL cannot be that of a logo or a certificate. */
export const bimiLocationProblem = problemsOf('bimi_location', {
  too_long: ({ max }: Max) => `longer than ${max} characters`,
  comma: () => 'only one URL is allowed; write a comma in it as %2C',
  url: () => 'not a URL',
  https: () => 'not an https URL',
  user: () => 'it contains a user name',
  host: () => 'not a full host name',
})

/** How a logo violates the profile that receivers require (draft-svg-tiny-ps-abrotman §2). */
export const svgProblem = problemsOf('svg', {
  xml: ({ reason }: { reason: string }) => `it is not well-formed XML: ${shown(reason, 120)}`,
  doctype: () => 'it has a document type declaration',
  instruction: ({ name }: Name) => `it has a processing instruction (${shown(name, 40)})`,
  too_many: () => 'it has too many elements or attributes',
  element: ({ name }: Name) => `the element ${shown(name, 40)} is not allowed`,
  no_title: () => 'it has no title',
  root: () => 'its root element is not svg',
  namespace: () => 'its root element is not in the SVG namespace',
  version: () => 'version is not "1.2"',
  profile: () => 'baseProfile is not "tiny-ps"',
  position: () => 'its root element has x or y',
  script: ({ name }: Name) => `the attribute ${shown(name, 40)} is a script`,
  outside: ({ name }: Name) => `${shown(name, 40)} points outside the file`,
})

type Domain = { domain: string }

/** Why DMARC of a domain permits no logo. */
export const enforcementProblem = problemsOf('bimi_dmarc', {
  no_record: ({ domain }: Domain) => `${shown(domain, 255)} has no usable DMARC record`,
  none: ({ domain }: Domain) => `${shown(domain, 255)} has the DMARC policy none`,
  none_below: ({ domain }: Domain) => `${shown(domain, 255)} has the DMARC policy none for subdomains`,
  share: ({ domain }: Domain) => `${shown(domain, 255)} has a DMARC policy for only a share of the mail (pct)`,
})

/** Why a logo cannot be used. */
export const logoProblem = problemsOf('bimi_logo', {
  status: ({ status }: { status: number }) => `the server answers HTTP ${status}`,
  compressed: () => 'the file cannot be decompressed, or is too large when decompressed',
})
