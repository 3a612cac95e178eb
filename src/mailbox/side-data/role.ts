/**
 * Local parts of a role and not of a person: those of RFC 2142, and common ones in several languages. Written without
 * separators.
 */
const ROLES = new Set(
  `abuse noc security postmaster hostmaster usenet news webmaster www uucp ftp
  info marketing sales support trouble root admin administrator mailerdaemon maildaemon daemon nobody
  noreply donotreply noresponse nospam spam null devnull bounce bounces mail mailer mailbox email autoreply autoresponder
  contact contacts contactus contactme hello hi hey welcome ask askus question questions query queries enquiry enquiries enquire inquiry inquiries inquire request requests feedback suggestions comment comments ideas chat talk
  help helpdesk servicedesk service services customerservice customerservices customersupport customercare customersuccess customer customers customerrelations clientservices clients client care techsupport technicalsupport technical tech supportdesk frontdesk frontoffice backoffice reception receptionist desk
  office officemanager headoffice mainoffice oficina escritorio team teams staff all allstaff everyone everybody allhands allusers members member membership friends
  accounts account accounting accountant accountants accountspayable accountsreceivable ap ar billing invoice invoices invoicing finance financial payments payment payroll purchasing purchase procurement purchases buyers buyer orders order ordering shop store retail wholesale checkout returns refunds refund expenses treasury tax taxes audit bookkeeping collections credit
  hr humanresources personnel people jobs job careers career recruiting recruitment recruiter recruit hiring employment talent interns internship internships training trainers trainer benefits
  legal compliance privacy dpo gdpr dmca copyright trademark trademarks licensing license licenses permissions counsel law riskmanagement risk
  press media presse pr publicrelations publicity newsroom editor editors editorial editorinchief newsletter newsletters subscribe subscription subscriptions unsubscribe list lists listserv majordomo mailinglist
  advertising advertise advertisers advertisingsales ads adops adsales sponsorship sponsors sponsor partners partner partnership partnerships affiliates affiliate affiliation resellers reseller distributors distribution vendors vendor suppliers supplier trade b2b bizdev businessdevelopment business biz brand branding campaign campaigns communications communication comms social socialmedia socialclub community communitymanager growth seo sem content blog events event booking bookings reservations reservation travel tickets ticket
  it itsupport itdept ithelp ithelpdesk infosec cert csirt soc psirt incident incidents vulnerability phishing hackers sysadmin systemadmin systems system sys sysop ops operations operator operators devops sre dev devs developer developers development engineering engineers engineer api backend frontend ux ui design designer designers webdesign web website webteam webadmin site siteadmin domain domains domainadmin dns dnsadmin registrar registry network networking networkadmin networkops hosting server servers cloud infrastructure platform application applications apps app software hardware database dba data analytics bi qa test tests tester testing testuser demo sandbox example sample dummy
  ceo cto cfo coo cio ciso cmo cpo chairman president vicepresident vp director directors directory deputy executive executives exec execs board boardofdirectors management manager managers managingdirector md mgmt leadership founders founder owner owners principal partnersmail secretary secretariat secretaries supervisor supervisors assistant assistants coordinator head headmaster
  product products productmanager productmanagers productmanagement project projects projectmanager portfolio program programs programme research rd rnd lab labs innovation strategy planning solutions consulting consultants consultant advice advisor advisors acquisition acquisitions
  general generalinfo geral genel alle commissions leasing webdev accountmanager accountmanagers deputyhead main central centralmail public publicinfo default catchall archive archives backup fax print printer scan scanner voicemail phone switchboard
  quality production logistics shipping delivery deliveries dispatch warehouse inventory stock facilities facility maintenance buildings safety fleet transport transportation export exports import imports customs
  register registration registrations registrar signup signups enrollment enrolment admissions admission alumni students student faculty library librarian school university registraroffice
  investors investor investorrelations ir shareholders donations donate donors fundraising volunteer volunteers foundation charity
  claims complaint complaints ombudsman whistleblower ethics report reports reporting statistics stats survey surveys poll vote research panel contest contests competition promo promotions promotion offers deals coupons loyalty rewards giftcards
  postmasters hostmasters webmasters admins administrators administration administrative administrativo administracion administracao administratie administrazione adminteam verwaltung administrateur administrador amministrazione
  kontakt kontakte kontor kundeservice kundenservice kundendienst kundenbetreuung service24 anfrage anfragen bestellung bestellungen bestellen buchhaltung rechnung rechnungen rechnungswesen einkauf verkauf vertrieb personal personalabteilung bewerbung bewerbungen karriere sekretariat zentrale empfang geschaeftsfuehrung geschaeftsleitung vorstand redaktion presseabteilung pressestelle datenschutz impressum werbung poststelle post technik edv
  accueil compta comptabilite commande commandes commercial commerciaux contactez direction facturation facture factures rh ressourceshumaines recrutement secretariatgeneral serviceclient serviceclients redaction communicationpresse achats achat ventes vente boutique technique informatique renseignements renseignement mairie
  contacto contactenos atencion atencionalcliente atencioncliente clientes compras comercial contabilidad contador facturacion facturas gerencia gerente informacion informaciones pedidos prensa recepcion reservas rrhh recursoshumanos secretaria secretariageneral soporte tienda ventas ventasonline consultas direccion administrador presidencia tesoreria
  contato atendimento sac suporte vendas faleconosco comunicacao compras financeiro faturamento fiscal juridico diretoria gerencia marketingdigital ouvidoria presidencia recepcao relacionamento rh secretaria suprimentos contabilidade cobranca licitacao licitacoes orcamento orcamentos loja ti
  contatti informazioni assistenza ordini acquisti vendite commerciale contabilita fatturazione fatture segreteria direzione ufficio ufficiostampa stampa prenotazioni servizioclienti risorseumane personale protocollo pec
  klantenservice verkoop inkoop boekhouding facturen administratie receptie directie redactie vacatures sollicitatie bestellingen
  kundtjanst kundeservice kundesupport ordre ordrer salg faktura ekonomi okonomi regnskab regnskap bestilling post styrelsen asiakaspalvelu myynti toimisto laskutus tilaukset
  biuro kontakty sekretariat sprzedaz ksiegowosc zamowienia sklep pomoc obchod prodej fakturace objednavky podpora ugyfelszolgalat iroda penzugy rendeles destek bilgi satis iletisim muhasebe siparis insankaynaklari
  zakaz zakupki prodazhi buhgalter buhgalteria sekretar kadry otdel priem reklama podderzhka
  inbox mailmaster hosteditor emailadmin mailadmin smtp pop imap dmarc dmarcreports tlsrpt spf dkim arf fbl feedbackloop complaintsmail remove optout
  guest guests visitor visitors reader readers subscriber subscribers employee employees contractor contractors temp intern crew video videos photo photos music radio tv studio creative update updates upgrade alerts alert notice notices notification notifications notify monitor monitoring nagios cron logs log git github gitlab svn jira confluence jenkins slack bot robot
  sandiego sanfrancisco newyork hq headquarters headquarter regional france germany italy spain london paris berlin tokyo sf nyc la uk us usa eu emea apac
  ooo none unknown undisclosed undisclosedrecipients anonymous women men geeks watercooler shopping hsteachers ateam atlas announce announcements announcement`
    .split(/\s+/)
    .filter((word) => word !== ''),
)
/** Maximum number of characters of a local part that is compared. */
const LONGEST = 64

/**
 * The role of a local part (`support`; `Customer-Support+ticket7` is `customersupport`), or "" for a person. Case,
 * separators (`.`, `-`, `_`), sub-addressing (`+tag`, RFC 5233) and a number at the end do not matter.
 */
export function roleOf(local: string): string {
  if (local.length > LONGEST) return ''
  const [untagged = ''] = local.toLowerCase().split('+')
  const name = untagged.replace(/[._-]/g, '')
  const unnumbered = name.replace(/\d{1,4}$/, '')
  const words = [name, unnumbered, unnumbered.replace(/(?:team|dept|department|mailbox)$/, '')]
  return words.find((word) => word !== '' && ROLES.has(word)) ?? ''
}
