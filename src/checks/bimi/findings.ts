import { defineFindings, info, list, low, medium } from '../check.ts'

export const findings = defineFindings({
  'bimi.no_record': info({
    title: 'No BIMI record',
    detail: ({ domain }) => `${domain} publishes no logo for mail programs. BIMI is optional.`,
    reference: 'draft-brand-indicators §4.3',
  }),
  'bimi.declined': info({
    title: 'Logo declined',
    detail: () => 'The record has neither a logo nor a certificate: it declares that no logo is to be shown.',
    reference: 'draft-brand-indicators §4.3.1',
  }),
  'bimi.inherited': info({
    title: 'The logo comes from the organizational domain',
    detail: ({ domain, from }) => `${domain} has no record of its own; the record of ${from} applies.`,
    reference: 'draft-brand-indicators §7.2',
  }),
  'bimi.several_records': medium({
    title: 'Several BIMI records',
    detail: ({ at, count }) => `default._bimi.${at} has ${count} BIMI records; receivers use none of them.`,
    repair: 'Keep one.',
    reference: 'draft-brand-indicators §7.2',
  }),
  'bimi.version': medium({
    title: 'Invalid BIMI version',
    detail: ({ at }) =>
      `The record at default._bimi.${at} does not begin with exactly "v=BIMI1;", so receivers ignore it.`,
    repair: 'Correct the version.',
    reference: 'draft-brand-indicators §4.3',
  }),
  'bimi.syntax': medium({
    title: 'Invalid BIMI record',
    detail: ({ problem, at }) => `${problem}${Number(at) >= 0 ? ` (at character ${at})` : ''}.`,
    repair: 'Write it as v=BIMI1; l=https://…/logo.svg; a=https://…/certificate.pem',
    reference: 'draft-brand-indicators §4.3',
  }),
  'bimi.location': medium({
    title: 'Invalid URL in the BIMI record',
    detail: ({ tag, uri, problem }) => `${tag}=${uri}: ${problem}.`,
    repair: 'Give one https URL.',
    reference: 'draft-brand-indicators §4.3',
  }),
  'bimi.no_logo': low({
    title: 'Mark certificate without a logo',
    detail: () => 'l is empty. The certificate contains the logo, but not every receiver reads it there.',
    repair: 'Add the URL of the logo as l.',
    reference: 'draft-brand-indicators §4.3',
  }),
  'bimi.not_svg': medium({
    title: 'The logo is not an SVG file',
    detail: ({ uri }) => `${uri} has the file extension of another image format; receivers accept only SVG and SVGZ.`,
    repair: 'Publish the logo as an SVG of the profile Tiny Portable/Secure.',
    reference: 'draft-brand-indicators §4.3.2',
  }),
  'bimi.logo_unavailable': medium({
    title: 'The logo cannot be fetched',
    detail: ({ reason }) => `${reason}.`,
    repair: 'Serve the logo over HTTPS with a valid certificate, as a file of at most 32 KiB.',
    reference: 'draft-brand-indicators §4.3.2',
  }),
  'bimi.logo_unknown': info({
    title: 'The logo could not be checked',
    detail: ({ reason }) => `${reason}.`,
    reference: 'draft-brand-indicators §4.3.2',
  }),
  'bimi.logo_profile': medium({
    title: 'The logo does not conform to SVG Tiny Portable/Secure',
    detail: ({ faults }) => `${list(faults, '; ')}.`,
    repair:
      'Export the logo as SVG Tiny P/S: version 1.2, baseProfile tiny-ps, with a title, without scripts, links and images.',
    reference: 'draft-svg-tiny-ps-abrotman §2',
  }),
  'bimi.logo_large': low({
    title: 'The logo is too large',
    detail: ({ bytes }) => `The logo has ${bytes} bytes; at most 32 KiB are recommended.`,
    repair: 'Make the file smaller.',
    reference: 'draft-svg-tiny-ps-abrotman §3',
  }),
  'bimi.logo_not_square': low({
    title: 'The logo is not square',
    detail: () => 'Mail programs show logos in a square or a circle.',
    repair: 'Use a square viewBox.',
    reference: 'draft-svg-tiny-ps-abrotman §3',
  }),
  'bimi.dmarc_not_enforced': medium({
    title: 'Logo not shown: DMARC policy not enforced',
    detail: ({ domain, reason }) => `Receivers show no logo for ${domain}: ${reason}.`,
    repair: 'Raise the DMARC policy to quarantine or reject, for subdomains too.',
    reference: 'draft-brand-indicators §7.1',
  }),
  'bimi.dmarc_unknown': info({
    title: 'The DMARC policy for the logo could not be checked',
    detail: ({ reason }) => `${reason}.`,
    reference: 'draft-brand-indicators §7.1',
  }),
  'bimi.no_certificate': info({
    title: 'No mark certificate',
    detail: () => 'a is empty. Several large receivers show a logo only with a mark certificate.',
    reference: 'draft-brand-indicators §4.3',
  }),
})
