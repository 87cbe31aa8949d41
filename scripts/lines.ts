const levels: Record<number, string> = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' }

const value = (given: unknown) => (typeof given === 'string' && !/\s/.test(given) ? given : JSON.stringify(given))

/** A log line of the service as a person reads it; what is not one stays as it is. */
export const readable = (line: string): string => {
  if (!line.startsWith('{')) return line
  try {
    const { level, time, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown> & {
      err?: { message?: string; stack?: string }
    }
    const fields = Object.entries(rest).map(([name, content]) => `${name}=${value(content)}`)
    const parts = [
      String(time).slice(11, 19),
      (levels[Number(level)] ?? 'info').padEnd(5),
      typeof msg === 'string' ? msg : '',
      ...fields,
    ]
    return `${parts.join(' ')}${err ? `\n${err.stack ?? err.message ?? ''}` : ''}`
  } catch {
    return line
  }
}

const width = 10

/** Writes lines under the name of where they come from. */
export const say = (name: string, text: string) => {
  for (const line of text.split('\n')) process.stdout.write(`${name.padEnd(width)}| ${line}\n`)
}
