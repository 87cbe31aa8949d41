import '../test/support/variables.ts'

const { routes } = await import('../api/routes.ts')

const rows = routes.map((route) => [route.method, route.path, route.access.kind, route.id, route.summary])
const widths = [0, 1, 2, 3].map((column) => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)))

/** Every endpoint: method, path, who may call it, id and summary. */
for (const row of rows)
  console.log(
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
