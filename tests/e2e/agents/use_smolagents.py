"""smolagents with a picture of the user: CHART."""
import sys
from PIL import Image
from smolagents import OpenAIModel, ToolCallingAgent

model = OpenAIModel(model_id="gpt-4o")
agent = ToolCallingAgent(tools=[], model=model, max_steps=1)
print(agent.run("Which colors are these?", images=[Image.open(sys.argv[1])]))
