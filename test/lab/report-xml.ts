/** A record of {@link aggregateReport}; texts are written as they are. */
export type LabRow = {
  readonly address: string
  readonly count: number
  /** With alignment. */
  readonly spf?: 'pass' | 'fail'
  readonly dkim?: 'pass' | 'fail'
  readonly envelope?: string
  readonly from?: string
  readonly spfResult?: string
  readonly disposition?: string
  readonly reason?: string
  readonly signatures?: readonly { readonly domain: string; readonly selector: string; readonly result?: string }[]
}

/** A DMARC aggregate report as text, by default of google.com about 2026-11-20. */
export function aggregateReport(
  report: {
    readonly domain?: string
    readonly id?: string
    readonly organization?: string
    readonly email?: string
    readonly begin?: number
    readonly end?: number
    readonly policy?: string
    readonly rows?: readonly LabRow[]
  } = {},
): string {
  const {
    domain = 'example.org',
    id = '1',
    organization = 'google.com',
    email = 'noreply-dmarc-support@google.com',
  } = report
  const { begin = Date.UTC(2026, 10, 20) / 1_000, end = begin + 86_399, policy = '<p>none</p>', rows = [] } = report
  return `<?xml version="1.0" encoding="UTF-8"?><feedback><report_metadata><org_name>${organization}</org_name><email>${email}</email><report_id>${id}</report_id><date_range><begin>${begin}</begin><end>${end}</end></date_range></report_metadata><policy_published><domain>${domain}</domain>${policy}</policy_published>${rows.map((row) => record(row, domain)).join('')}</feedback>`
}

const record = (row: LabRow, domain: string): string => {
  const { spf = 'fail', dkim = 'fail', signatures = [], disposition = 'none' } = row
  const reason = row.reason === undefined ? '' : `<reason><type>${row.reason}</type></reason>`
  const envelope = row.envelope === undefined ? '' : `<envelope_from>${row.envelope}</envelope_from>`
  const keys = signatures.map(
    (one) =>
      `<dkim><domain>${one.domain}</domain><selector>${one.selector}</selector><result>${one.result ?? 'pass'}</result></dkim>`,
  )
  const spfResult = row.spfResult ?? spf
  return `<record><row><source_ip>${row.address}</source_ip><count>${row.count}</count><policy_evaluated><disposition>${disposition}</disposition><dkim>${dkim}</dkim><spf>${spf}</spf>${reason}</policy_evaluated></row><identifiers>${envelope}<header_from>${row.from ?? domain}</header_from></identifiers><auth_results>${keys.join('')}<spf><domain>${row.envelope ?? domain}</domain><result>${spfResult}</result></spf></auth_results></record>`
}
