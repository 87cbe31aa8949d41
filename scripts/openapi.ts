import { writeFileSync } from 'node:fs'
import '../test/support/variables.ts'

export const target = new URL('../docs/openapi.json', import.meta.url)

/** The document as it is served, and as it stands in docs/openapi.json. */
export const generateOpenApi = async (): Promise<string> => {
  const [{ openApi }, { routes }] = await Promise.all([import('../api/lib/openapi.ts'), import('../api/routes.ts')])
  return `${JSON.stringify(openApi(routes), null, 2)}\n`
}

if (import.meta.filename === process.argv[1]) {
  writeFileSync(target, await generateOpenApi())
  console.log('docs/openapi.json written')
}
