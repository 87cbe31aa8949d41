import { writeFileSync } from 'node:fs'
import '../test/support/variables.ts'

export const target = new URL('../docs/openapi.json', import.meta.url)

const width = 120

/** JSON whose small lists and objects stand on one line. */
const layout = (value: unknown, indent = ''): string => {
  const line = JSON.stringify(value)
  if (indent.length + line.length <= width || typeof value !== 'object' || value === null) return line
  const inside = `${indent} `
  const parts = Array.isArray(value)
    ? value.map((item) => layout(item, inside))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${layout(item, inside)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  return `${open}\n${inside}${parts.join(`,\n${inside}`)}\n${indent}${close}`
}

/** The document as it is served, and as it stands in docs/openapi.json. */
export const generateOpenApi = async (): Promise<string> => {
  const [{ openApi }, { routes }] = await Promise.all([import('../api/lib/openapi.ts'), import('../api/routes.ts')])
  return `${layout(JSON.parse(JSON.stringify(openApi(routes))))}\n`
}

if (import.meta.filename === process.argv[1]) {
  writeFileSync(target, await generateOpenApi())
  const { addBodies } = await import('./bodies.ts')
  addBodies()
  console.log('docs/openapi.json written')
}
