import { defineConfig } from '@playwright/test';

// INSPECT_URL: address of a running inspector, with its token; without it the specs use generated sessions.
export default defineConfig({
  testDir: '.',
  outputDir: process.env['INSPECT_RESULTS'] ?? `${process.env['PHOTIC_CACHE'] ?? `${process.env['HOME']}/.cache/photic`}/inspector/results`,
  snapshotPathTemplate: '../../../docs/inspector/{arg}{ext}',
  timeout: 240_000,
  expect: { timeout: 30_000 },
  workers: 1,
  retries: 0,
  reporter: [['list']],
  use: {
    browserName: 'chromium',
    launchOptions: { executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] },
    viewport: { width: 1440, height: 900 },
    locale: 'en-GB',
    timezoneId: 'UTC',
    colorScheme: 'light',
  },
});
