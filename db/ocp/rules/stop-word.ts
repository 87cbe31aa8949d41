const words = new Set(['stop', 'parar', 'sair', 'cancelar', 'baja'])

/** Tells whether a text says only that its writer wants no more messages. Capitals, spaces, accents and points do not matter. */
export const isStopWord = (text: string): boolean =>
  words.has(
    text
      .normalize('NFKD')
      .replace(/[\p{M}\p{Cf}]/gu, '')
      .replace(/^[\s\p{P}]+|[\s\p{P}]+$/gu, '')
      .toLowerCase(),
  )
