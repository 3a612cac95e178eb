/** The English name of a country by its ISO 3166-1 code (upper case), or null. */
export function countryName(code: string): string | null {
  names ??= new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  return names.of(code) ?? null
}

let names: Intl.DisplayNames | undefined // created on demand: it loads the names of all regions

/** The name of a country's continent, or null. */
export const continentOf = (country: string): string | null => CONTINENT_OF.get(country) ?? null

/** The name for a continent's two letters, or null. */
export const continentName = (code: string): string | null =>
  (Object.hasOwn(CONTINENTS, code) ? CONTINENTS[code] : undefined) ?? null

const CONTINENTS: Readonly<Record<string, string>> = {
  AF: 'Africa',
  AN: 'Antarctica',
  AS: 'Asia',
  EU: 'Europe',
  NA: 'North America',
  OC: 'Oceania',
  SA: 'South America',
}

/** ISO 3166-1 codes by continent (UN M.49; the Caribbean and Central America count as North America). */
const COUNTRIES: Readonly<Record<string, string>> = {
  AF: 'AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW IO KE KM LR LS LY MA MG ML MR MU MW MZ NA NE NG RE RW SC SD SH SL SN SO SS ST SZ TD TF TG TN TZ UG YT ZA ZM ZW',
  AN: 'AQ BV GS HM',
  AS: 'AE AF AM AZ BD BH BN BT CN CY GE HK ID IL IN IQ IR JO JP KG KH KP KR KW KZ LA LB LK MM MN MO MV MY NP OM PH PK PS QA SA SG SY TH TJ TL TM TR TW UZ VN YE',
  EU: 'AD AL AT AX BA BE BG BY CH CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC MD ME MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA XK',
  NA: 'AG AI AW BB BL BM BQ BS BZ CA CR CU CW DM DO GD GL GP GT HN HT JM KN KY LC MF MQ MS MX NI PA PM PR SV SX TC TT US VC VG VI',
  OC: 'AS AU CC CK CX FJ FM GU KI MH MP NC NF NR NU NZ PF PG PN PW SB TK TO TV UM VU WF WS',
  SA: 'AR BO BR CL CO EC FK GF GY PE PY SR UY VE',
}

const CONTINENT_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(COUNTRIES).flatMap(([code, countries]) =>
    countries.split(' ').map((country) => [country, CONTINENTS[code]!] as const),
  ),
)
