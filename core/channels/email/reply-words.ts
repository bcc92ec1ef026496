/** What the text of a mail server is about. A server's own words say more than the code beside them. */
export const replyWords = {
  relay: /\brelay(ing|ed)?\b|rcpthosts/i,
  sender: /\bsender|\bfrom address|return.?path|out(going|bound)|\b(helo|ehlo)\b|\bspf\b|dkim|dmarc|authenticat/i,
  sendingQuota: /\b(sending|daily|hourly)\b.{0,40}\b(limit|quota|rate)/i,
  rate: /\brate\b|too (quick|fast|many)/i,
  policy:
    /(black|block|deny).?list|(?<!not )\blisted\b|\brbl\b|dnsbl|spam|barracuda|reputation|policy|block(ed|ing)|\bbanned|denied|prohibited|abuse/i,
  mailbox: /\b(mail ?box|user|recipient|account|address(ee)?|alias)\b/i,
  absent:
    /unknown|no such|not (found|exist|local|allowed|valid|listed)|n[o']t exist|invalid|unavailable|unrout|disabled|inactive|no longer|\bno (mail ?box|user|account)|closed|deleted|moved/i,
};
