"""Makes a bucket on every server named: NAME ENDPOINT…"""

import sys

import boto3
from botocore.config import Config

name, *endpoints = sys.argv[1:]
for endpoint in endpoints:
    config = Config(s3={"addressing_style": "path"})
    boto3.client("s3", endpoint_url=endpoint, config=config).create_bucket(Bucket=name)
