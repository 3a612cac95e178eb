import { describe, expect, it } from 'vitest'
import { readArrival } from './envelope.ts'
import { parseMail } from './parse.ts'

/** Headers as mail hosts write them, made up; the message came from 45.53.1.1 (mail.a.example) for joe@b.example. */
type Case = {
  readonly name: string
  readonly header: string
  readonly receivedBy?: readonly string[]
  readonly ip?: string
  readonly helo?: string
  readonly mailFrom?: string
  /** The hosts that are offered. */
  readonly offered?: readonly string[]
  /** The hosts whose results count. */
  readonly trusted?: readonly string[]
}
const OK = { ip: '45.53.1.1', helo: 'mail.a.example' }

const CASES: readonly Case[] = [
  {
    name: 'Postfix with rspamd',
    header: `Return-Path: <joe@a.example>
Delivered-To: joe@b.example
Received: from mx.b.example ([10.0.0.7])
 by store.b.example with LMTP id 1 for <joe@b.example>; Mon, 23 Nov 2026 09:00:04 +0000
Received: from mail.a.example (mail.a.example [45.53.1.1])
 by mx.b.example (Postfix) with ESMTPS id 2 for <joe@b.example>; Mon, 23 Nov 2026 09:00:03 +0000 (UTC)
Authentication-Results: mx.b.example; spf=pass smtp.mailfrom=joe@a.example
X-Rspamd-Server: mx`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['mx.b.example'],
  },
  {
    name: 'cPanel with Exim, without results: who it was is not sure',
    header: `Return-path: <joe@a.example>
Envelope-to: joe@b.example
Received: from mail.a.example ([45.53.1.1]:55012)
 by server12.host.example with esmtps (TLS1.3) tls TLS_AES_256_GCM_SHA384 (Exim 4.98)
 (envelope-from <joe@a.example>) id 1tA for joe@b.example; Mon, 23 Nov 2026 10:00:03 +0100`,
    offered: ['server12.host.example'],
    mailFrom: 'joe@a.example',
  },
  {
    name: 'the same, and the host is named',
    header: `Return-path: <joe@a.example>
Received: from mail.a.example ([45.53.1.1]:55012)
 by server12.host.example with esmtps (Exim 4.98) id 1tA for joe@b.example; Mon, 23 Nov 2026 10:00:03 +0100`,
    receivedBy: ['host.example'],
    ...OK,
    mailFrom: 'joe@a.example',
    offered: ['server12.host.example'],
  },
  {
    name: 'Microsoft 365, Return-Path below the sender’s fields',
    header: `Received: from AB1PR01MB0001.eurprd01.prod.outlook.com (2603:10a6:1::1)
 by CD2PR01MB0002.EURPRD01.PROD.OUTLOOK.COM with HTTPS; Mon, 23 Nov 2026 09:00:06 +0000
Received: from XY1EUR01FT001.eop-eur01.prod.protection.outlook.com (2603:10a6:2::2)
 by AB1PR01MB0001.outlook.office365.com (2603:10a6:1::1) with Microsoft SMTP Server id 15.20.1; Mon, 23 Nov 2026 09:00:05 +0000
Authentication-Results: spf=pass (sender IP is 45.53.1.1) smtp.mailfrom=bounce.a.example; dkim=none
Received-SPF: Pass (protection.outlook.com: domain of bounce.a.example designates 45.53.1.1 as permitted sender)
 receiver=protection.outlook.com; client-ip=45.53.1.1; helo=mail.a.example; pr=C
Received: from mail.a.example (45.53.1.1) by XY1EUR01FT001.mail.protection.outlook.com (10.1.1.1)
 with Microsoft SMTP Server id 15.20.2 via Frontend Transport; Mon, 23 Nov 2026 09:00:04 +0000
Subject: x
Return-Path: b+1@bounce.a.example
X-MS-Exchange-Organization-AuthAs: Anonymous`,
    ...OK,
    mailFrom: 'b+1@bounce.a.example',
    trusted: ['ab1pr01mb0001.outlook.office365.com'],
  },
  {
    name: 'Microsoft 365, without results',
    header: `Received: from XY1EUR01FT001.eop-eur01.prod.protection.outlook.com (2603:10a6:2::2)
 by AB1PR01MB0001.outlook.office365.com (2603:10a6:1::1) with Microsoft SMTP Server id 15.20.1; Mon, 23 Nov 2026 09:00:05 +0000
Received: from mail.a.example (45.53.1.1) by XY1EUR01FT001.mail.protection.outlook.com (10.1.1.1)
 with Microsoft SMTP Server id 15.20.2 via Frontend Transport; Mon, 23 Nov 2026 09:00:04 +0000`,
    ...OK,
  },
  {
    name: 'Yahoo',
    header: `X-Apparently-To: joe@yahoo.example; Mon, 23 Nov 2026 09:00:04 +0000
Return-Path: <joe@a.example>
Authentication-Results: atlas-production.v2-mail-prod1-gq1.omega.yahoo.com; spf=pass smtp.mailfrom=a.example
Received: from 45.53.1.1 (EHLO mail.a.example)
 by 10.1.2.3 with SMTPs (version=TLS1_3 cipher=TLS_AES_128_GCM_SHA256); Mon, 23 Nov 2026 09:00:03 +0000`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['atlas-production.v2-mail-prod1-gq1.omega.yahoo.com'],
  },
  {
    name: 'Yahoo Japan, which writes from= behind its name',
    header: `Return-Path: <joe@a.example>
Authentication-Results: mta501.mail.djm.ynwp.yahoo.co.jp from=a.example; domainkeys=neutral (no sig); dkim=pass (ok); header.i=@a.example
Received: from 45.53.1.1 (EHLO mail.a.example) (45.53.1.1)
 by mta501.mail.djm.ynwp.yahoo.co.jp with SMTP; Mon, 23 Nov 2026 18:00:03 +0900`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['mta501.mail.djm.ynwp.yahoo.co.jp'],
  },
  {
    name: 'iCloud',
    header: `Return-path: <joe@a.example>
Received: from p1-mailgateway-smtp-1 ([10.1.1.6]) by ms1.mac.com (Oracle Communications Messaging Server)
 with ESMTP id <1@ms1.mac.com> for joe@icloud.example; Mon, 23 Nov 2026 09:00:06 +0000
Received: from p00-icloudmta-smtpin-us-central-1 by p1-mailgateway-smtp-1 (mailgateway 1) with SMTP id 2; Mon, 23 Nov 2026 09:00:05 +0000
Received: from mail.a.example (mail.a.example [45.53.1.1])
 by p00-icloudmta-smtpin-us-central-1 (Postfix) with ESMTPS id 3; Mon, 23 Nov 2026 09:00:04 +0000
X-ICL-SCORE: 3.33
Authentication-Results: dmarc.icloud.com; dmarc=pass header.from=a.example
Authentication-Results: spf.icloud.com; spf=pass smtp.mailfrom=joe@a.example`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['dmarc.icloud.com', 'spf.icloud.com'],
  },
  {
    name: 'Orange, whose hosts have names without a dot',
    header: `Return-Path: <joe@a.example>
Received: from mwinf5c12 (mwinf5c12 [10.223.111.12]) by mwinb1m04 with LMTPA; Mon, 23 Nov 2026 10:00:04 +0100
Received: from mail.a.example ([45.53.1.1]) by mwinf5c12 with ME id 1; Mon, 23 Nov 2026 10:00:03 +0100`,
    ...OK,
    mailFrom: 'joe@a.example',
  },
  {
    name: 'sent by a user of Orange',
    header: `Received: from [192.168.1.18] ([45.53.1.1]) by mwinf5d79 with ME id 1; Mon, 23 Nov 2026 10:00:03 +0100`,
  },
  {
    name: 'web.de, without results',
    header: `Return-Path: <joe@a.example>
Received: from mail.a.example ([45.53.1.1]) by mx-ha.web.de (mxweb001 [212.227.15.17]) with ESMTPS (Nemesis) id 1
 for <joe@web.example>; Mon, 23 Nov 2026 10:00:03 +0100`,
    ...OK,
    mailFrom: 'joe@a.example',
  },
  {
    name: 'sent by a user of web.de: the host takes no mail from the outside',
    header: `Received: from [192.168.1.2] ([45.53.1.1]) by smtp.web.de (mrweb001 [213.165.67.124]) with ESMTPSA (Nemesis) id 1;
 Mon, 23 Nov 2026 10:00:03 +0100`,
    offered: ['smtp.web.de'],
  },
  {
    name: 'Zoho',
    header: `Delivered-To: joe@b.example
Authentication-Results: mx.zohomail.in; spf=pass (zohomail.in: domain of a.example) smtp.mailfrom=joe@a.example
Return-Path: <joe@a.example>
Received: from mail.a.example (mail.a.example [45.53.1.1]) by mx.zoho.in with SMTPS id 1; Mon, 23 Nov 2026 09:00:03 +0000`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['mx.zohomail.in'],
  },
  {
    name: 'Fastmail',
    header: `Return-Path: <joe@a.example>
Received: from c5.internal (c5.phl.internal [10.202.2.45]) by sloti1 (Cyrus 3.13) with LMTPA; Mon, 23 Nov 2026 04:00:06 -0500
Received: from phl-mx-01.messagingengine.com (localhost [127.0.0.1]) by mailmx.phl.internal (Postfix) with ESMTP id 1; Mon, 23 Nov 2026 04:00:05 -0500
Received: from mail.a.example (mail.a.example [45.53.1.1]) by phl-mx-01.messagingengine.com (Postfix) with ESMTPS id 2;
 Mon, 23 Nov 2026 04:00:04 -0500`,
    ...OK,
    mailFrom: 'joe@a.example',
  },
  {
    name: 'Proton',
    header: `Return-Path: <joe@a.example>
Authentication-Results: mail.protonmail.ch; spf=pass smtp.mailfrom=a.example
Received: from mail.a.example (mail.a.example [45.53.1.1])
 by mailin012.protonmail.ch (Postfix) with ESMTPS id 1; Mon, 23 Nov 2026 09:00:03 +0000`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['mail.protonmail.ch'],
  },
  {
    name: 'Google, from Google',
    header: `Delivered-To: joe@gmail.example
Received: by 2002:a05:1::1 with SMTP id 1; Mon, 23 Nov 2026 01:00:05 -0800 (PST)
Return-Path: <joe@a.example>
Received: from mail-sor-f1.google.com (mail-sor-f1.google.com. [209.85.220.41]) by mx.google.com with SMTPS id 2;
 Mon, 23 Nov 2026 01:00:04 -0800 (PST)`,
    ip: '209.85.220.41',
    helo: 'mail-sor-f1.google.com',
    mailFrom: 'joe@a.example',
  },
  {
    name: 'Exchange on premises that checks SPF',
    header: `Received: from ex1.corp.b.example (10.1.1.11) by ex1.corp.b.example (10.1.1.11) with Microsoft SMTP Server id 15.2.1; Mon, 23 Nov 2026 09:00:06 +0000
Received: from mail.a.example (45.53.1.1) by ex1.corp.b.example (10.1.1.11) with Microsoft SMTP Server id 15.2.1; Mon, 23 Nov 2026 09:00:05 +0000
Received-SPF: Pass (ex1.corp.b.example: domain of joe@a.example designates 45.53.1.1 as permitted sender)
 receiver=ex1.corp.b.example; client-ip=45.53.1.1; helo=mail.a.example;`,
    ...OK,
  },
  {
    name: 'qmail',
    header: `Received: (qmail 1 invoked by uid 89); 23 Nov 2026 09:00:04 -0000
Received: from unknown (HELO mail.a.example) (45.53.1.1)
 by mail.host.example with ESMTPS (AES256-GCM-SHA384 encrypted); 23 Nov 2026 09:00:03 -0000`,
    offered: ['mail.host.example'],
  },
  {
    name: 'Amazon SES: results by another name than the host',
    header: `Return-Path: <joe@a.example>
Received: from mail.a.example (mail.a.example [45.53.1.1])
 by inbound-smtp.eu-west-1.amazonaws.com with SMTP id 1 for joe@b.example; Mon, 23 Nov 2026 09:00:05 +0000 (UTC)
X-SES-Spam-Verdict: PASS
Authentication-Results: amazonses.com; spf=pass (spfCheck: ok) client-ip=45.53.1.1; envelope-from=joe@a.example; helo=mail.a.example`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['amazonses.com'],
  },
  {
    name: 'Cloudflare Email Routing: the same',
    header: `Received: from mail.a.example (45.53.1.1)
 by cloudflare-email.net (cloudflare) id 1 for <joe@b.example>; Mon, 23 Nov 2026 09:00:05 +0000
Authentication-Results: mx.cloudflare.net; dkim=none; spf=pass (ok) smtp.mailfrom=joe@a.example`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['mx.cloudflare.net'],
  },
  {
    name: 'Yandex writes smtp.mail',
    header: `Received: from mail-nwsmtp-mxfront-production-main-9.vla.yp-c.yandex.net (mail-nwsmtp-mxfront-production-main-9.vla.yp-c.yandex.net [2a02:6b8::1])
 by mail-notsolitesrv-production-main-1.vla.yp-c.yandex.net (notsolitesrv/Yandex) with LMTPS id 1; Mon, 23 Nov 2026 12:00:06 +0300
Received: from mail.a.example (mail.a.example [45.53.1.1])
 by mail-nwsmtp-mxfront-production-main-9.vla.yp-c.yandex.net (mxfront/Yandex) with ESMTPS id 2; Mon, 23 Nov 2026 12:00:05 +0300
Return-Path: joe@a.example
X-Yandex-Fwd: 1
Authentication-Results: mail-nwsmtp-mxfront-production-main-9.vla.yp-c.yandex.net; spf=pass (ok) smtp.mail=joe@a.example`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['mail-nwsmtp-mxfront-production-main-9.vla.yp-c.yandex.net'],
  },
  {
    name: 'a store of another name, by LMTP',
    header: `Return-Path: <joe@a.example>
Received: from dobby.b.example ([10.2.5.1]) by director-03.host.example (Dovecot) with LMTPS id 1; Mon, 23 Nov 2026 09:00:07 +0000
Received: from mx2.b.example (mx2.b.example [45.53.9.1]) by dobby.b.example (Postfix) with ESMTPS id 2; Mon, 23 Nov 2026 09:00:06 +0000
Authentication-Results: mx2.b.example; spf=pass smtp.mailfrom=joe@a.example
Received: from mail.a.example (mail.a.example [45.53.1.1]) by mx2.b.example (Postfix) with ESMTPS id 3; Mon, 23 Nov 2026 09:00:05 +0000`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['mx2.b.example'],
  },
  {
    name: 'a name below no public top level is within the systems',
    header: `Received: from crcvmail103.b.example ([10.101.1.1]) by cmail101.nm with ESMTP id 1; Mon, 23 Nov 2026 09:00:06 +0000
Received: from mail.a.example (mail.a.example [45.53.1.1]) by crcvmail103.b.example with ESMTP id 2; Mon, 23 Nov 2026 09:00:05 +0000
Authentication-Results: mx.b.example; spf=pass smtp.mailfrom=joe@a.example`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['mx.b.example'],
  },
  {
    name: 'a forwarder between',
    header: `Received: from fwd.c.example (fwd.c.example [45.53.9.9]) by mx.b.example (Postfix) with ESMTPS id 1; Mon, 23 Nov 2026 09:00:06 +0000
Received: from mail.a.example (mail.a.example [45.53.1.1]) by fwd.c.example (Postfix) with ESMTPS id 2; Mon, 23 Nov 2026 09:00:05 +0000`,
    offered: ['mx.b.example', 'fwd.c.example'],
  },
  {
    name: 'a private name above the receiver’s is within its systems',
    header: `Received: from mx.b.example (10.0.0.7) by ex1.firma.local (10.0.0.8) with Microsoft SMTP Server id 15.2.1; Mon, 23 Nov 2026 09:00:06 +0000
Authentication-Results: mx.b.example; spf=pass smtp.mailfrom=joe@a.example
Received: from mail.a.example (mail.a.example [45.53.1.1]) by mx.b.example (Postfix) with ESMTPS id 1; Mon, 23 Nov 2026 09:00:05 +0000`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['mx.b.example'],
  },
  {
    name: 'a private name below it is the sender’s',
    header: `Authentication-Results: mx.b.example; spf=pass smtp.mailfrom=joe@a.example
Received: from mail.a.example (gateway [10.0.0.1]) by mx.b.example (Postfix) with ESMTPS id 1; Mon, 23 Nov 2026 09:00:05 +0000
Received: from client.c.example (client.c.example [45.53.200.200]) by ex1.shop.local (10.1.1.1) with ESMTP id 2; Mon, 23 Nov 2026 09:00:04 +0000`,
    offered: ['ex1.shop.local'],
    mailFrom: 'joe@a.example',
    trusted: ['mx.b.example'],
  },
  {
    name: 'Exchange on premises with a private name: it is offered',
    header: `Received: from mail.a.example (45.53.1.1) by ex1.firma.local (10.1.1.11) with Microsoft SMTP Server id 15.2.1; Mon, 23 Nov 2026 09:00:05 +0000`,
    offered: ['ex1.firma.local'],
  },
  {
    name: 'an address literal as HELO is the client’s word',
    header: `Authentication-Results: mx.b.example; spf=fail smtp.mailfrom=a.example
Received: from [45.53.200.200] (unknown [45.53.1.1]) by mx.b.example (Postfix) with ESMTP id 1; Mon, 23 Nov 2026 09:00:05 +0000`,
    ip: '45.53.1.1',
    helo: '45.53.200.200',
    mailFrom: 'a.example',
    trusted: ['mx.b.example'],
  },
  {
    name: 'lines like the operator’s below the connection are the sender’s',
    header: `Received: from mail.a.example (45.53.1.1) by XY1EUR01FT001.mail.protection.outlook.com (10.1.1.1)
 with Microsoft SMTP Server id 15.20.2 via Frontend Transport; Mon, 23 Nov 2026 09:00:04 +0000
Received: from bank.example (45.53.200.200) by ZZ1EUR01FT009.mail.protection.outlook.com (10.1.1.9)
 with Microsoft SMTP Server id 15.20.2 via Frontend Transport; Mon, 23 Nov 2026 08:00:04 +0000
Received-SPF: Pass (protection.outlook.com) receiver=protection.outlook.com; client-ip=45.53.200.200; helo=bank.example
Authentication-Results: spf=pass smtp.mailfrom=bank.example`,
    ...OK,
  },
  {
    name: 'a filter in front of the mail hosts, or one of the sender: who connected is not sure',
    header: `Received: from AB1.outlook.office365.com (2603:10a6::1) by AB2.outlook.office365.com (2603:10a6::2) with HTTPS; Mon, 23 Nov 2026 09:00:07 +0000
Authentication-Results: spf=softfail (sender IP is 148.163.1.1) smtp.mailfrom=a.example
Received: from mx0a-1.pphosted.com (148.163.1.1) by AB1EUR01FT001.mail.protection.outlook.com (10.1.1.1)
 with Microsoft SMTP Server id 15.20.2 via Frontend Transport; Mon, 23 Nov 2026 09:00:06 +0000
Received: from mail.a.example (mail.a.example [45.53.1.1]) by mx0a-1.pphosted.com (PPS) with ESMTPS id 1; Mon, 23 Nov 2026 09:00:05 +0000`,
    offered: ['ab1eur01ft001.mail.protection.outlook.com', 'mx0a-1.pphosted.com'],
    mailFrom: 'a.example',
    trusted: ['ab2.outlook.office365.com'],
  },
  {
    name: 'a filter whose address SPF names is one of the sender',
    header: `Received: from AB1.outlook.office365.com (2603:10a6::1) by AB2.outlook.office365.com (2603:10a6::2) with HTTPS; Mon, 23 Nov 2026 09:00:07 +0000
Authentication-Results: spf=pass (sender IP is 148.163.1.1) smtp.mailfrom=a.example
Received: from mx0a-1.pphosted.com (148.163.1.1) by AB1EUR01FT001.mail.protection.outlook.com (10.1.1.1)
 with Microsoft SMTP Server id 15.20.2 via Frontend Transport; Mon, 23 Nov 2026 09:00:06 +0000
Received: from ex.a.example (ex.a.example [45.53.1.1]) by mx0a-1.pphosted.com (PPS) with ESMTPS id 1; Mon, 23 Nov 2026 09:00:05 +0000`,
    ip: '148.163.1.1',
    helo: 'mx0a-1.pphosted.com',
    mailFrom: 'a.example',
    trusted: ['ab2.outlook.office365.com'],
  },
  {
    name: 'a filter that writes by another name than that with which it sends',
    header: `Received: from AB1.outlook.office365.com (2603:10a6::1) by AB2.outlook.office365.com (2603:10a6::2) with HTTPS; Mon, 23 Nov 2026 09:00:07 +0000
Authentication-Results: spf=fail (sender IP is 209.222.1.1) smtp.mailfrom=a.example
Received: from outbound1.ess.barracuda.com (209.222.1.1) by AB1EUR01FT001.mail.protection.outlook.com (10.1.1.1)
 with Microsoft SMTP Server id 15.20.2 via Frontend Transport; Mon, 23 Nov 2026 09:00:06 +0000
Received: from mail.a.example (mail.a.example [45.53.1.1]) by mx-inbound1.ess.aws.cudaops.com (version=TLSv1.3); Mon, 23 Nov 2026 09:00:05 +0000`,
    offered: ['ab1eur01ft001.mail.protection.outlook.com', 'mx-inbound1.ess.aws.cudaops.com'],
    mailFrom: 'a.example',
    trusted: ['ab2.outlook.office365.com'],
  },
  {
    name: 'Mail.ru, which writes its results below the fields of the sender',
    header: `Return-path: <joe@a.example>
Received: from mail.a.example ([45.53.1.1])
 by mx316.i.mail.ru with esmtp (envelope-from <joe@a.example>) id 1; Mon, 23 Nov 2026 12:00:05 +0300
Received: from laptop ([192.168.7.20]) by mail.a.example (Postfix) with ESMTPSA id 2; Mon, 23 Nov 2026 09:00:04 +0000
Authentication-Results: mxs.mail.ru; spf=pass (mx316.i.mail.ru: domain of a.example designates 45.53.1.1 as permitted sender) smtp.mailfrom=joe@a.example`,
    ...OK,
    mailFrom: 'joe@a.example',
  },
  {
    name: 'NetEase, whose hosts have names without a dot, and which writes its results below those of the sender',
    header: `Received: from mail.a.example (unknown [45.53.1.1])
\tby mx17 (Coremail) with SMTP id a; Mon, 23 Nov 2026 17:00:05 +0800 (CST)
Received: from app.a.example (app.a.example [45.53.9.9]) by mail.a.example (Postfix) with ESMTPSA id 2; Mon, 23 Nov 2026 09:00:04 +0000
Authentication-Results: mx17; spf=pass smtp.mail=joe@a.exa
\tmple; dkim=pass header.i=@a.example`,
    ...OK,
  },
  {
    name: 'results by the first label of the name',
    header: `Return-Path: <joe@a.example>
Received: from MTA-07.post.example ([10.50.14.19]) by store-2.post.example with LMTP; Mon, 23 Nov 2026 09:00:05 +0000
Received: from mail.a.example (mail.a.example [45.53.1.1])
\tby mta-07.post.example (Postfix) with ESMTPS id 4; Mon, 23 Nov 2026 09:00:04 +0000
Authentication-Results: MTA-07; dkim=pass header.d=a.example`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['mta-07.post.example'],
  },
  {
    name: 'Rackspace, which writes HELO behind the address',
    header: `Return-Path: <joe@a.example>
Received: from smtp31.gate.dfw1a ([172.31.255.6])
\tby proxy4.mail.dfw1a.post.example with LMTPS id i; Mon, 23 Nov 2026 09:00:05 +0000
Authentication-Results: smtp31.gate.dfw1a.post.example; iprev=pass policy.iprev="45.53.1.1"; spf=pass smtp.mailfrom="joe@a.example" smtp.helo="mail.a.example"
Received: from [45.53.1.1] ([45.53.1.1:40000] helo=mail.a.example)
\tby smtp31.gate.dfw1a.post.example (envelope-from <joe@a.example>)
\t(ecelerity 4.2.38) with ESMTPS id j; Mon, 23 Nov 2026 09:00:04 +0000`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['smtp31.gate.dfw1a.post.example'],
  },
  {
    name: 'QQ, without results',
    header: `Received: from mail.a.example (unknown [45.53.1.1])
\tby newxmmxszb7-1.qq.com (NewMX) with SMTP id 6A
\tfor <eve@qq.com>; Mon, 23 Nov 2026 17:00:05 +0800`,
    ...OK,
  },
  {
    name: 'QQ, with results',
    header: `Received: from mail.a.example (unknown [45.53.1.1])
\tby newxmmxszb7-1.qq.com (NewMX) with SMTP id 6A
\tfor <eve@qq.com>; Mon, 23 Nov 2026 17:00:05 +0800
X-QQ-mid: xmmxszb7-1t1
Authentication-Results: mx.qq.com; spf=pass smtp.mailfrom=<joe@a.example>; dkim=none; dmarc=none(permerror) header.from=a.example`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['mx.qq.com'],
  },
  {
    name: 'Libero, whose hosts write a private name',
    header: `Return-Path: <joe@a.example>
Received: from smtp-21.iol.local (10.255.1.21) by ims3d.libero.it; Mon, 23 Nov 2026 10:00:05 +0100
Authentication-Results: smtp-21.iol.local; spf=pass smtp.mailfrom=joe@a.example; dkim=pass header.d=a.example
Received: from mail.a.example ([45.53.1.1])
\tby smtp-21.iol.local with ESMTP
\tid r; Mon, 23 Nov 2026 10:00:04 +0100`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['smtp-21.iol.local'],
  },
  {
    name: 'results of a sender below its own line: who received it is not known by them',
    header: `Received: from mail.a.example (mail.a.example [45.53.1.1]) by mx.b.example with ESMTPS id 1; Mon, 23 Nov 2026 09:00:05 +0000
Received: from bad.example (bad.example [45.53.9.9]) by mail.a.example with ESMTPS id 2; Mon, 23 Nov 2026 09:00:04 +0000
Authentication-Results: mail.a.example; spf=pass smtp.mailfrom=joe@a.example`,
    offered: ['mx.b.example', 'mail.a.example'],
  },
  {
    name: 'T-Online, delivered within',
    header: `Return-Path: <joe@a.example>
Received: from mailin36.aul.t-online.de ([172.20.27.85])
          by ehead20c15.aul.t-online.de (Dovecot) with LMTP
          id p5TRAEpCJGlW; Mon, 23 Nov 2026 09:00:04 +0100
Received: from mail.a.example ([45.53.1.1]) by mailin36.aul.t-online.de
          with (TLSv1.3:TLS_AES_256_GCM_SHA384 encrypted)
          esmtp id 1vNm2k-0ZkXyR0; Mon, 23 Nov 2026 09:00:03 +0100`,
    mailFrom: 'joe@a.example',
    offered: ['mailin36.aul.t-online.de'],
  },
  {
    name: 'Fastmail, delivered within',
    header: `Return-Path: <joe@a.example>
Received: from phl-compute-08.internal (phl-compute-08.internal [10.202.2.48])
	 by sloti33d2t21 (Cyrus 3.13.0-alpha0-1108) with LMTPA;
	 Mon, 23 Nov 2026 09:00:04 -0500
Received: from phl-mx-11.internal (phl-mx-11.internal [10.202.2.210])
	 by phl-compute-08.internal (Cyrus) with LMTPA; Mon, 23 Nov 2026 09:00:04 -0500
Received: from phl-mx-11.messagingengine.com (localhost [127.0.0.1])
	by mailmx.phl.internal (Postfix) with ESMTP id 0A1B2C3D
	for <roos@fastmail.nl>; Mon, 23 Nov 2026 09:00:03 -0500 (EST)
Authentication-Results: mx.messagingengine.com;
    arc=none (no signatures found);
    dkim=pass (2048-bit rsa key sha256) header.d=a.example header.i=@a.example header.b=ZmFrZXNp header.a=rsa-sha256 header.s=s1 x-bits=2048;
    dmarc=pass policy.published-domain-policy=reject policy.applied-disposition=none header.from=a.example;
    iprev=pass smtp.remote-ip=45.53.1.1 (mail.a.example);
    spf=pass smtp.mailfrom=joe@a.example smtp.helo=mail.a.example
Received-SPF: pass
    (a.example: 45.53.1.1 is authorized to use 'joe@a.example' in 'mfrom' identity (mechanism 'ip4:45.53.1.1' matched))
    receiver=phl-mx-11.messagingengine.com;
    identity=mailfrom;
    envelope-from="joe@a.example";
    helo=mail.a.example;
    client-ip=45.53.1.1
Received: from mail.a.example (mail.a.example [45.53.1.1])
	(using TLSv1.3 with cipher TLS_AES_256_GCM_SHA384 (256/256 bits))
	by phl-mx-11.messagingengine.com (Postfix) with ESMTPS
	for <roos@fastmail.nl>; Mon, 23 Nov 2026 09:00:02 -0500 (EST)`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['mx.messagingengine.com'],
  },
  {
    name: 'Plesk',
    header: `Return-Path: <joe@a.example>
Delivered-To: roos@praktijk.example
Authentication-Results: plesk7.gastheer.example;
	dmarc=pass (p=REJECT sp=NONE) smtp.from=a.example header.from=a.example;
	dkim=pass header.d=a.example;
	spf=pass (sender IP is 45.53.1.1) smtp.mailfrom=joe@a.example smtp.helo=mail.a.example
Received-SPF: pass (plesk7.gastheer.example: domain of a.example designates 45.53.1.1 as permitted sender) client-ip=45.53.1.1; envelope-from=joe@a.example; helo=mail.a.example;
Received: from mail.a.example (mail.a.example [45.53.1.1])
	by plesk7.gastheer.example (Postfix) with ESMTPS id 5BB8D6021D
	for <roos@praktijk.example>; Mon, 23 Nov 2026 09:00:03 +0100 (CET)`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['plesk7.gastheer.example'],
  },
  {
    name: "Cisco's appliance, which checks SPF of MAIL FROM and of HELO",
    header: `Authentication-Results: esa1.concern.example; spf=Pass smtp.mailfrom=joe@a.example; spf=None smtp.helo=postmaster@mail.a.example; dkim=pass (signature verified) header.i=@a.example; dmarc=pass (p=reject dis=none) d=a.example
Received-SPF: Pass (esa1.concern.example: domain of
  joe@a.example designates 45.53.1.1 as
  permitted sender) identity=mailfrom; client-ip=45.53.1.1;
  receiver=esa1.concern.example;
  envelope-from="joe@a.example";
  x-sender="joe@a.example"; x-conformance=spf_only;
  x-record-type="v=spf1"
Received-SPF: None (esa1.concern.example: no sender
  authenticity information available from domain of
  postmaster@mail.a.example) identity=helo;
  client-ip=45.53.1.1; receiver=esa1.concern.example;
  envelope-from="joe@a.example";
  x-sender="postmaster@mail.a.example"; x-conformance=spf_only
Received: from mail.a.example ([45.53.1.1])
  by esa1.concern.example with ESMTP/TLS/TLS_AES_256_GCM_SHA384; 24 Nov 2026 09:40:13 +0100`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['esa1.concern.example'],
  },
  {
    name: 'a filter in front of Exchange that writes results',
    header: `Received: from mx-gate31-hz1.hornetsecurity.com ([94.100.134.131]) by mail.kanzlei.example with
 Microsoft SMTP Server (version=TLS1_2, cipher=TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384) id 15.2.1118.40; Mon, 23 Nov 2026 09:00:07 +0100
Authentication-Results: mx-gate31-hz1.hornetsecurity.com 1; spf=pass
 reason=mailfrom (ip=45.53.1.1, headerfrom=a.example)
 smtp.mailfrom=a.example smtp.helo=mail.a.example;
 dmarc=pass header.from=a.example orig.disposition=pass
Received: from mail.a.example ([45.53.1.1]) by mx-gate31-hz1.hornetsecurity.com;
 Mon, 23 Nov 2026 09:00:03 +0000`,
    offered: ['mail.kanzlei.example', 'mx-gate31-hz1.hornetsecurity.com'],
  },
  {
    name: 'a filter before Exchange, which writes results',
    header: `Received: from EX19.klinik.local (10.20.0.4) by EX19.klinik.local (10.20.0.4) with Microsoft SMTP Server id 15.2.1544.11 via Mailbox Transport; Mon, 23 Nov 2026 09:00:07 +0100
Received: from nsp.klinik.example (10.20.0.9) by EX19.klinik.local (10.20.0.4) with Microsoft SMTP Server id 15.2.1544.11 via Frontend Transport; Mon, 23 Nov 2026 09:00:06 +0100
Authentication-Results: nsp.klinik.example; spf=pass smtp.mailfrom=joe@a.example; dkim=pass header.d=a.example; dmarc=pass header.from=a.example
Received: from mail.a.example (45.53.1.1) by nsp.klinik.example (10.20.0.9) with ESMTPS (version=TLS1_3); Mon, 23 Nov 2026 09:00:04 +0100`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['nsp.klinik.example'],
  },
  {
    name: 'Zimbra with amavis',
    header: `Return-Path: joe@a.example
Received: from zmta.stad.example (LHLO zmta.stad.example) (10.4.0.11) by
 zstore.stad.example with LMTP; Mon, 23 Nov 2026 09:00:05 +0100 (CET)
Received: from localhost (localhost [127.0.0.1])
	by zmta.stad.example (Postfix) with ESMTP id 9A2; Mon, 23 Nov 2026 09:00:05 +0100 (CET)
Authentication-Results: zmta.stad.example (amavis); dkim=pass (2048-bit key) header.d=a.example
Received: from zmta.stad.example ([127.0.0.1])
	by localhost (zmta.stad.example [127.0.0.1]) (amavis, port 10032) with ESMTP id x; Mon, 23 Nov 2026 09:00:04 +0100 (CET)
Received: from mail.a.example (mail.a.example [45.53.1.1])
	by zmta.stad.example (Postfix) with ESMTPS id 8B1; Mon, 23 Nov 2026 09:00:03 +0100 (CET)`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['zmta.stad.example'],
  },
  {
    name: 'SmarterMail',
    header: `Return-Path: <joe@a.example>
Received: from mail.a.example (mail.a.example [45.53.1.1]) by mail.reis.example with SMTP
	(version=TLS\\Tls13
	cipher=Aes256 bits=256);
   Mon, 23 Nov 2026 09:00:03 +0100`,
    mailFrom: 'joe@a.example',
    offered: ['mail.reis.example'],
  },
  {
    name: 'Haraka',
    header: `Return-Path: <joe@a.example>
Authentication-Results: mx.snel.example; iprev=pass; spf=pass smtp.mailfrom=a.example; dkim=pass header.i=@a.example header.d=a.example; dmarc=pass (p=REJECT arec=pass d=a.example) header.from=a.example
Received-SPF: Pass (mx.snel.example: domain of a.example designates 45.53.1.1 as permitted sender) receiver=mx.snel.example; identity=mailfrom; client-ip=45.53.1.1; helo=mail.a.example; envelope-from=<joe@a.example>
Received: from mail.a.example (mail.a.example [45.53.1.1])
	by mx.snel.example (Haraka/3.0.5) with ESMTPS id 3F2-1.1
	envelope-from <joe@a.example>
	tls TLS_AES_256_GCM_SHA384 (verified=false);
	Mon, 23 Nov 2026 09:00:03 +0100`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['mx.snel.example'],
  },
  {
    name: 'a filter that writes HELO behind the address',
    header: `Return-Path: <joe@a.example>
Delivered-To: roos@loods.example
Received: from director12.mail.ord1d.rsapps.net ([172.27.255.7])
	by backend15.mail.ord1d.rsapps.net with LMTP; Mon, 23 Nov 2026 09:00:05 -0500
Received: from smtp33.gate.iad3a ([172.27.255.7])
	by director12.mail.ord1d.rsapps.net with LMTP; Mon, 23 Nov 2026 09:00:04 -0500
Authentication-Results: smtp33.gate.iad3a.rsapps.net; iprev=pass policy.iprev="45.53.1.1"; spf=pass smtp.mailfrom="joe@a.example" smtp.helo="mail.a.example"; dkim=pass header.d=a.example; dmarc=pass (p=reject; dis=none) header.from=a.example
Received: from [45.53.1.1] ([45.53.1.1:41512] helo=mail.a.example)
	by smtp33.gate.iad3a.rsapps.net (envelope-from <joe@a.example>)
	(ecelerity 4.2.38.62370 r(:)) with ESMTPS (cipher=DHE-RSA-AES256-GCM-SHA384)
	id AA/BB; Mon, 23 Nov 2026 09:00:03 -0500`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['smtp33.gate.iad3a.rsapps.net'],
  },
  {
    name: 'Exim, with the address alone',
    header: `Return-path: <joe@a.example>
Envelope-to: roos@uni.example
Delivery-date: Mon, 23 Nov 2026 09:00:05 +0100
Received: from [45.53.1.1] (helo=mail.a.example)
	by mx2.uni.example with esmtps (TLS1.3:ECDHE_X25519__RSA_PSS_RSAE_SHA256__AES_256_GCM:256)
	(Exim 4.97) (envelope-from <joe@a.example>) id 1abc-2; Mon, 23 Nov 2026 09:00:03 +0100
Authentication-Results: mx2.uni.example; iprev=pass (mail.a.example) smtp.remote-ip=45.53.1.1; spf=pass smtp.mailfrom=a.example; dkim=pass header.d=a.example header.s=s1 header.a=rsa-sha256; dmarc=pass header.from=a.example`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['mx2.uni.example'],
  },
  {
    name: 'qmail',
    header: `Return-Path: <joe@a.example>
Delivered-To: roos@toaster.example.net
Received: (qmail 12345 invoked by uid 89); 24 Nov 2026 08:40:14 -0000
Received: from unknown (HELO mail.a.example) (45.53.1.1)
  by toaster.example.net with ESMTPS (ECDHE-RSA-AES256-GCM-SHA384 encrypted); 24 Nov 2026 08:40:13 -0000
Received-SPF: pass (toaster.example.net: SPF record at a.example designates 45.53.1.1 as permitted sender)`,
    mailFrom: 'joe@a.example',
    offered: ['toaster.example.net'],
  },
  {
    name: 'Domino',
    header: `Received: from mail.a.example ([45.53.1.1])
          by domino.fabrik.example (HCL Domino Release 14.0FP2)
          with ESMTPS id 2026112409401300-4711 ;
          Tue, 24 Nov 2026 09:40:13 +0100`,
    offered: ['domino.fabrik.example'],
  },
  {
    name: 'STRATO, which writes results as strato.com',
    header: `Return-Path: <joe@a.example>
Authentication-Results: strato.com; dmarc=pass (p=REJECT) header.from="a.example"; dkim=pass header.d="a.example"; spf=pass smtp.mailfrom="joe@a.example"
Received: from mail.a.example ([45.53.1.1])
 by smtpin.rzone.de (RZmta 54.1.0 OK) with ESMTPS id 1; Mon, 23 Nov 2026 09:00:05 +0100 (CET)`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['strato.com'],
  },
  {
    name: 'MDaemon, which writes the address of the client into another field; the one behind by is its own',
    header: `Return-Path: <joe@a.example>
Authentication-Results: mail.b.example; spf=pass smtp.mailfrom=joe@a.example
Received: from mail.a.example by mail.b.example (45.53.9.9) (Cipher TLS1.3:AES-GCM:256) (MDaemon PRO v25.0.1)
 with ESMTPS id md5001.msg; Mon, 23 Nov 2026 09:00:05 +0000
X-MDRemoteIP: 45.53.1.1
X-MDHelo: mail.a.example`,
    ...OK,
    mailFrom: 'joe@a.example',
    trusted: ['mail.b.example'],
  },
  {
    name: 'the second of two candidates is named: the line above it is of a host behind it',
    header: `Received: from fwd.c.example (fwd.c.example [45.53.9.9]) by mx.b.example (Postfix) with ESMTPS id 1; Mon, 23 Nov 2026 09:00:06 +0000
Received: from mail.a.example (mail.a.example [45.53.1.1]) by fwd.c.example (Postfix) with ESMTPS id 2; Mon, 23 Nov 2026 09:00:05 +0000`,
    receivedBy: ['fwd.c.example'],
    ...OK,
    offered: ['mx.b.example', 'fwd.c.example'],
  },
  {
    name: 'a host that gave it to a filter and got it back: both connections are offered',
    header: `Received: from filter.c.example (filter.c.example [45.53.8.8]) by mx.b.example (Postfix) with ESMTP id 1; Mon, 23 Nov 2026 09:00:07 +0000
Received: from mx.b.example ([45.53.9.1]) by filter.c.example (amavisd-new) with ESMTP id 2; Mon, 23 Nov 2026 09:00:06 +0000
Received: from mail.a.example (mail.a.example [45.53.1.1]) by mx.b.example (Postfix) with ESMTPS id 3; Mon, 23 Nov 2026 09:00:05 +0000`,
    offered: ['mx.b.example', 'filter.c.example', 'mx.b.example'],
  },
  {
    name: 'stores with public addresses, by LMTP',
    header: `Received: from dir3.b.example ([45.53.7.1]) by back3.b.example with LMTP id 1; Mon, 23 Nov 2026 09:00:07 +0000
Received: from mx3.b.example ([45.53.7.2]) by dir3.b.example with LMTP id 2; Mon, 23 Nov 2026 09:00:06 +0000
Received: from mail.a.example ([45.53.1.1]) by mx3.b.example with ESMTPS id 3; Mon, 23 Nov 2026 09:00:05 +0000
Authentication-Results: mx3.b.example; dkim=pass header.d=a.example`,
    ...OK,
    trusted: ['mx3.b.example'],
  },
]

describe('who received a message', () => {
  it.each(CASES.map((row) => [row.name, row] as const))('%s', (_, row) => {
    const { header, receivedBy = [], ip, helo, mailFrom, offered = [], trusted = [] } = row
    const text = `${header}\nFrom: Joe <joe@a.example>\n\nHello\n`.replaceAll('\n', '\r\n')
    const { envelope, receivers, results } = readArrival(parseMail(Buffer.from(text)).fields, receivedBy, undefined)
    expect({ ip: envelope.ip, helo: envelope.helo, mailFrom: envelope.mailFrom }).toEqual({ ip, helo, mailFrom })
    expect(receivers.map(({ host }) => host)).toEqual(offered)
    expect(receivers.filter(({ chosen }) => chosen)).toHaveLength(receivedBy.length)
    expect(results.flatMap((one) => (one.trusted ? one.host : []))).toEqual(trusted)
  })
})
