/** Codes of RFC 3463 by which an address leads nowhere; others of the class are about the sender, or say nothing of why. */
const noMailbox = new Set(['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10'])
const saysNothing = new Set(['5.0.0', '5.1.0'])
const refusing = new Set([550, 551, 553, 554])

/** A refusal of us or of this mail, whatever else it says: the next mail, or one from elsewhere, may arrive. */
const isOfUs =
  /spam|polic|relay|gr[ae]y-?list|block|black ?list|deny|denied|reputation|\brbl\b|\bdns[bw]l\b|\bspf\b|dkim|dmarc|authenticat|authoriz|sender|helo|\bip\b|\brate\b|too many|try again|later|temporar|quota|full/i
const isOfMailbox =
  /no such (user|mailbox|recipient|address|account|person)|(user|mailbox|recipient|address|account|email)\b.{0,80}?\b(unknown|not found|not exist|n[o']t exist|invalid|disabled|inactive|no longer|not known)|(unknown|invalid|bad|inactive|disabled) (local )?(user|mailbox|recipient|address|account)|no mailbox|does( not|n't) exist|n[ãa]o existe|inexistente|no existe/i

/**
 * Tells whether the reply to RCPT TO says that there is no such mailbox, rather than that this message or its sender is not wanted. Without a code that settles
 * it, words do: a mailbox that is called dead by mistake has no mail of its stays any more, and one that is dead merely refuses once more.
 */
export const saysNoMailbox = (code: number, response: string): boolean => {
  const enhanced = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1]
  if (enhanced !== undefined && !saysNothing.has(enhanced)) return noMailbox.has(enhanced)
  // Addresses stand in replies, and may hold any word.
  const words = response.replace(/\S+@\S+/g, ' ').replace(/\s+/g, ' ')
  return refusing.has(code) && isOfMailbox.test(words) && !isOfUs.test(words)
}
