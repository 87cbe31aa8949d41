/** Words that providers take for an opt-out, and those of the guests' languages, as they stand once a text is made plain. */
const words = new Set(
  [
    'stop, stopall, stop all, unsubscribe, cancel, end, quit, revoke, optout, opt out',
    'parar, pare, sair, cancelar, descadastrar, remover, baja, dar de baja, salir',
    'arret, arreter, desabonner, stopp, abmelden, disiscriviti',
  ].flatMap((list) => list.split(', ')),
)

/** The part of an answer by e-mail that its writer wrote: without the mail that it quotes, and without a signature. */
const ownPart = (text: string): string => {
  const lines = text.split(/\r?\n/)
  const end = lines.findIndex((line) => /^\s*>|^-- ?$|^-{3,}.*-{3,}$/.test(line))
  const own = end < 0 ? lines : lines.slice(0, end)
  // Before what is quoted stands a line, or two, that says whose it is: `On Monday Ana wrote:`.
  while (own.length > 0 && own.at(-1)?.trim() === '') own.pop()
  if (end >= 0 && own.at(-1)?.trim().endsWith(':')) {
    const before = own.findLastIndex((line) => line.trim() === '')
    own.splice(before < 0 ? own.length - 1 : before + 1)
  }
  return own.join('\n')
}

const plain = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(/^[\s\p{P}\p{S}]+|[\s\p{P}\p{S}]+$/gu, '')
    .replace(/[\s-]+/gu, ' ')
    .toLowerCase()

/** Tells whether a text says only that its writer wants no more messages. Capitals, spaces, accents, points and what an e-mail quotes do not matter. */
export const isStopWord = (text: string): boolean => words.has(plain(ownPart(text)))
