/**
 * What a field of an answer, or of an object that is sent, is, by its name, one a line: for those whose schema does not say more. A field that means
 * something else in its place has a description there.
 */
const WORDS = `
A|listings of tier A
about|what it is about
action|what is done with it
active|what is in progress now
add_labels|labels to add
address|an IP address, or a mail address where the object is about mail
addresses|the addresses, each with what is known of it
adkim|alignment of DKIM: r relaxed, s strict
advice|what to do
affected|what is affected
after|after the change
algorithm|the algorithm, as its standard names it
aligned|whether it aligns with the domain of From (RFC 9989 §4.4)
aligned_by|the identifier by which DMARC aligns
all|the qualifier of \`all\`: + - ~ or ?
allowance|how many queries the list permits
answered|how many gave an answer that counts
answering|how many answer now
answers|the answers, each of one who was asked
arc|the ARC sets (RFC 8617)
area|the part that changed
as|the name under which it is counted
as_if|the records that were laid over the published ones
as_org|who operates the network
asked|how many were asked
asn|the number of the autonomous system
aspf|alignment of SPF: r relaxed, s strict
at|when, or where in the input
at_ms|milliseconds since the start
attachments|the attached files: name, type and size
attachments_left_out|attachments beyond the bound
attempts|each attempt in its order; the last one decided
authentication_results|what hosts on the way wrote about the authentication
authority|whether a certificate of an authority is named
authors|the mail addresses in From
B|listings of tier B
bad_rows|the rows that could not be read, with the reason
bad_rows_left_out|unreadable rows beyond the bound
banner_name|the name in the greeting
because|the reason in words
before|before the change
begin|where the period begins
beside|other values at the name and type, which stay
beside_unknown|why the other values are not known
blacklist|the name of the list
blacklist_summary|the listings in numbers
blacklists|the lists, with their answers
blocked|how many refused to answer
body|the text
bogus|whether its signatures are wrong
breaker|whether it is left out for a while after failures
bulk_sender|what large receivers ask of bulk senders
by|who, or by what
by_left_out|terms beyond the bound
bytes|size in octets
C|listings of tier C
cached|whether it comes from the cache
canonicalization|how header and body were brought into a form before signing
capabilities|what it can do
capacity|how much it takes at the same time
catch_all|whether the domain accepts every recipient
change|what would be done
change_28_days|the change within 28 days
changed|whether it differs
changes|the changes, one by one
checked|what was checked
chosen|the one that was chosen
claimed_rows|rows that are being worked on
claims|what hosts claim in the message; nothing of it is proven
cname|the aliases on the way, the last one is the name with the record
code|the code of the reply, or of the problem
codes|the addresses that the list returned
color|the colour of the badge
compare|the value to compare with
complete|whether everything that matters was answered
component|the part of the score
confidence|how far the result can be relied on
configured|whether it is configured
consented|whether the receiver consented
contact|the mail address of the zone's administrator
count|how many
country|ISO 3166 code of the country
country_name|the country
created|how many were made
created_at|when it was made
critical|whether who does not know it must refuse
cv|the validation of the chain, as the host says
D|listings of tier D
dane|DANE of the mail hosts
data|the items
date|the day, or the date of the message
decision|what decided
delist_url|where to ask for removal
deliverability|whether mail can be delivered, in a word
dependencies|what the service needs, and whether it works
detail|what it is, in a sentence
differs|what differs between the servers
discovery|whether keys were found, and how sure their absence is
disposable|whether the domain gives out addresses for a short time
disposition|what the receiver did
dispositions|what receivers did with the messages
dkim|the DKIM signatures or keys
dkim_aligned|messages with a signature that aligns
dkim_domain|the domain that signed
dkim_domains|the domains that signed
dkim_result|the result of DKIM
dkim_selector|the selector of the signature
dmarc|the DMARC record or result
dnssec|DNSSEC of the zone
done|how many are done
dry_run|whether nothing was stored
due_for_ms|how long the oldest has waited, ms
due_rows|rows whose time has come
duplicate|whether it had come before
duration_ms|how long it took, ms
ede|extended errors of the resolver (RFC 8914)
effect|whether it is better or worse
effective_policy|the policy that applies to this name
ehlo_name|the name in the answer to EHLO
email|the mail address
enabled|false while it is paused
end|where the period or the path ends
enhanced_code|the enhanced status code (RFC 3463)
envelope|the connection and the envelope of the message
envelope_domains|the domains of envelope senders
envelope_from|the domain of the envelope sender
error|why it failed
every|the interval
evidence|what was seen
exists|whether it exists
expected|how many are expected
expire|seconds after which a secondary server drops the zone
expires_at|when it expires
explanation|the explanation that the domain publishes (exp=)
failed|how many failed
failing|messages that fail DMARC
failure|why it failed
failures|the failures, or how many there were
file|the file to serve
finding|the id of a finding (docs/findings.md)
findings|the findings, each with its severity
finished_at|when it ended
first_finding|the gravest finding
first_result_at|when the first result came
first_seen|the first day on which it was seen
fit|whether it can be used now
fixes|the records that mend it
forward_confirmed|whether the PTR name leads back to the address; null if not known
forwarded|messages that were passed on by a forwarder
found_at|the name at which it was found
free|whether the provider gives mailboxes away
from|where it begins, or the author of the message
generic|whether the name looks generated from the address
grade|A+ to F; null if too little is known
has_more|whether there is another page
hashes|the hash algorithms that the key permits
header_from|the domain in From
headers|fields of the header
held_connections|connections that are reserved
helo|the name in HELO or EHLO
helo_resolves|whether the HELO name leads to the address
history|what was found before
host|the name of a host
includes|the includes and redirects, as a tree
includes_left_out|includes beyond the bound
inherited|whether the record is one of a domain above
input|what was given
instance|the number of the ARC set
instructions|what to do, in words
ip|the IP address
ip_used|the source address that was used
ipv4|IPv4 addresses
ipv6|whether IPv6 addresses are listed
ipv6_prefixes|networks of /64
is_role|whether it is a mailbox of a role, as info or postmaster
issuer|who issued the certificate
key_bits|length of the key, bits
key_type|type of the key
known_from|how it is known
lame|whether the server does not answer for the zone
last|the last run
last_at|when the last one came
last_report_at|when the last report came
last_seen|the last day on which it was seen
last_seen_at|when it was last heard of
last_used_at|when it was last used
latency_ms|how long an answer takes, ms
latitude|degrees north
line|the line of the input
lines|what changed, one sentence each
links|the links in the message, which are not followed
list_version|version of the set of lists
listed|whether it is on the list, or on how many
listed_addresses|addresses that are on a list
lists_answered|lists that answered
load|how busy it is
logo|the URL of the logo
longitude|degrees east
lookups|DNS look-ups of the record, of 10 (RFC 7208 §4.6.4)
mailboxes|the provider of the mailboxes
matches|whether it matches
matching_type|matching type of the TLSA record
max_age|seconds for which senders keep the policy
meaning|what the code means
mechanism|the mechanism that decided
message|the text of the reply
message_id|the Message-ID
messages|how many messages
met|rules that are met
mime|the parts of the message
minimum|seconds for which the lack of a record is kept
missing_since|since when it is missing
mode|the mode of the policy
module|what was asked
mta_sts|MTA-STS of the domain
mx|the mail hosts
mx_hosts|the mail hosts
mx_kind|how mail is routed: mx, implicit, null or none
mx_reason|why the mail hosts are not known
mx_server|the mail host that answered
mx_status|the status of the mail hosts
mx_tried|the mail hosts that were tried
name_matches|whether the certificate has the name of the host
next_attempt_at|when it is tried again
next_cursor|the cursor of the next page; null on the last one
next_run_at|when it runs next
node|the node that answered
none|messages of which nothing was done
not_listed|how many do not list it
not_met|rules that are not met
note|a note
notes|notes, one sentence each
notify|who is told
now|as it is now
np|the policy for names that do not exist
observed_at|when it was observed
offered|whether STARTTLS is offered; null if not known
ok|whether it worked
open_rows|rows without a result
operator|who operates it
organizational_domain|the organizational domain (RFC 9989 §4.10)
ours|whether the sender is the owner's, by his word
outcome|how it ended
outdated_protocol|an old version of TLS that is still offered
owner|the mail address of who is responsible
parent_servers|the servers that the zone above names
passing|what passes
passing_after|what passes with the change
passing_before|what passes without the change
path|the way of the message, or the path
path_left_out|hops beyond the bound
paused_reason|why it is paused
paused_until|until when it is paused
pct|the share to which the policy applies, percent (RFC 7489)
peers|the other nodes
per_day|queries a day
per_minute|in a minute
per_second|queries a second
permanent|whether the failure is for good
phase|the phase of DMARC
place|where it listens or looks
plan|the plan: steps and their end
point|the result of the run
points|points of the score that it costs
policies|the policies that were seen
primary|the primary name server
priority|the preference of the MX record
problem|what is wrong; absent or null if nothing is
problems|what is wrong
protocol|the version of TLS
psd|the psd tag (RFC 9989 §4.7)
ptr|the PTR names
public|whether everybody may see it
quarantine|messages that were set aside
queue|the queue of rows
quiet_hours|hours in which nobody is told
reason|why, in words or as a code
recipients|the recipients, each with what became of it
record|the record as it is published
record_count|how many records
records_left_out|records beyond the bound
reference|the section of a standard
refresh|seconds after which a secondary server asks again
refusals|how many were refused
refused|what was refused, with the reason
refusing|how many refuse
region|the region of the node
registered_at|when it registered
reject|messages that were refused
remote_mta|the server that answered
remove|whether the records of the name and type go
remove_labels|labels to remove
repair|what to do
repairs|what to repair
report_id|the id of the report, as its sender gave it
report_score|the score minus what listings cost
reporters|who reports
reports|how many reports, or what they say
resolvable|whether the name has an address
retry|seconds after which a failed refresh is repeated
retry_after_ms|after how many milliseconds it may be tried again
returned|the message that came back
revoked|whether the key is revoked
rows|how many rows, or the rows
rtype|type of the record
rua|where aggregate reports go
ruf|where failure reports go
rules|the rules, each with its result
run|the run that was asked for
samples|the values, each with its name
saved_at|when it was stored
schemaVersion|version of the format of badges
scope|what is listed, or the scope
scope_text|what is listed: the address, its range or its network
score|points of 100
score_breakdown|every point that was lost, with its reason
score_max|the score if what is unknown is good
score_min|the score if what is unknown is bad
score_version|version of the score
secret|the secret, shown once
secure|whether the answer is signed
senders_total|how many senders there are
sent|the messages that were sent, and how they were taken
serial|serial number of the zone
server|the server, with its port
servers|the name servers
services|the services for which the key may be used
sets|the ARC sets
severity|how grave it is
signed|whether the zone is signed
signed_headers|the fields that are signed
signers|the domains that sign
skipped_sources|source addresses that were left out
smtputf8|whether the address needs SMTPUTF8
source|where it comes from
spf|the SPF record or result
spf_aligned|messages for which SPF aligns
spf_domain|the domain that SPF looked at
spf_result|the result of SPF
stage|the stage of the SMTP session
starttls|STARTTLS of the host
steps|the steps, or their numbers
strict|whether alignment is strict
subdomain_policy|the policy for subdomains
success|whether it succeeded
successes|how many succeeded
successful|sessions that succeeded
suggestion|the address that was probably meant
summary|the result in a sentence
supported|whether it is supported
tag|the tag of the CAA record
target|what is looked at
tcp|whether it answers over TCP
term|the term of the record
test|true for a message that was asked for as a test
test_codes|what the test entry returned
tested_at|when it was tested
testing|whether the key is in test mode
tier|how many receivers act on it: A many, D none
tiers|listings by tier
time|when
timeout|how many did not answer in time
timestamp|when it happened
timezone|the time zone (IANA)
title|what it is, in a few words
tls|the TLS of the connection
to|where it ends, or who gets it
to_do|what to do about it
today|the numbers of today
token|the access token
total|how many in all
trace|the evaluation, step by step
transcript|both sides of the SMTP session
tried|how many selectors were tried
trusted|whether the certificate is trusted
ttl|seconds for which it may be kept
ttl_ms|how long it lives, ms
txt|the text of the list about the entry
unanswered|what gave no answer
unauthenticated_reports|reports whose sender is not proven
unchanged|how many stayed as they were
uncovered_mx|mail hosts that the policy does not name
unicode_domain|the domain in its own script
unknown|what is not known
unreadable|how many could not be read
unsubscribed|whether the receiver unsubscribed
unsupported|how many do not support the question
updated|how many were changed
uri|the address
url|the URL
usable|whether receivers can use the key
usage|usage of the TLSA record
valid|whether receivers can use it
validated|whether its signatures were verified
verdict|the verdict in a word
verified|whether it is verified
void_lookups|look-ups that found nothing, of 2
waiting_providers|providers whose rows wait
was|published values that it replaces
way|the way in
when|the conditions under which somebody is told
why|why, in a sentence
wildcard|whether every name has such a record
with|what is laid over
worst_tier|the tier of the gravest listing
zone|the zone of the name, or of the list
zone_ipv6|the zone for IPv6 addresses
`

/** Fields whose name says it all: the domain, the mail hosts. */
const SAID_BY_NAME = `
answer certificate city continent days domain domains hosts id keys kind label labels last_refusal listing listings lists mail_hosts method monitor
name names options organization policy provider providers question records resolver result results role selector selectors sender senders sources
state status subject text times type value version
`

const BY_NAME: ReadonlyMap<string, string> = new Map([
  ...SAID_BY_NAME.trim()
    .split(/\s+/)
    .map((name) => [name, `the ${name.replaceAll('_', ' ')}`] as const),
  ...WORDS.trim()
    .split('\n')
    .map((line) => {
      const at = line.indexOf('|')
      return [line.slice(0, at), line.slice(at + 1)] as const
    }),
])

/** What a field of this name is; undefined for one without words. */
export const fieldWords = (name: string): string | undefined => BY_NAME.get(name)
